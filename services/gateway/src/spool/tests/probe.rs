//! A disk that counts, fails on demand, and knows what a loss of power at any moment would leave of a folder.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::disk::{Disk, Local, Output};
use super::super::segment::HEADER;

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Create,
    Write,
    Sync,
    Cut,
    Rename,
    Remove,
    SyncFolder,
    Free,
    Read,
}

impl Op {
    pub(super) const ALL: [Self; 9] = [
        Self::Create,
        Self::Write,
        Self::Sync,
        Self::Cut,
        Self::Rename,
        Self::Remove,
        Self::SyncFolder,
        Self::Free,
        Self::Read,
    ];
}

/// What an operation does instead of succeeding.
pub(super) type Fault = io::ErrorKind;

type Plan = Box<dyn FnMut(usize, Op) -> Option<Fault> + Send>;
type After = Box<dyn FnMut(&Model) + Send>;

/// Content of files by path.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// What the operations so far have made of the folder, and what of that is durable.
#[derive(Default)]
pub(super) struct Model {
    next: usize,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    durable: HashMap<usize, Vec<u8>>,
}

impl Model {
    /// Everything that was written.
    pub(super) fn all(&self) -> Files {
        let read = |path: &PathBuf| (path.clone(), fs::read(path).unwrap_or_default());
        self.names.keys().map(read).collect()
    }

    /// Only what was made durable.
    pub(super) fn least(&self) -> Files {
        let content = |id| self.durable.get(id).cloned().unwrap_or_default();
        let names = self.durable_names.iter();
        names
            .map(|(path, id)| (path.clone(), content(id)))
            .collect()
    }

    /// All names, and of each file what was durable and half of the rest.
    pub(super) fn half(&self) -> Files {
        let mut files = self.all();
        for (path, content) in &mut files {
            let durable = self.names.get(path).and_then(|id| self.durable.get(id));
            let durable = durable.map_or(0, Vec::len);
            let rest = content.len().saturating_sub(durable);
            content.truncate(durable + rest / 2);
        }
        files
    }
}

struct Inner {
    count: usize,
    plan: Plan,
    after: After,
    unreadable: Option<PathBuf>,
    model: Model,
}

/// The disk; clones are the same disk.
#[derive(Clone)]
pub(super) struct Probe(Arc<Mutex<Inner>>);

impl std::fmt::Debug for Probe {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Probe")
    }
}

impl Probe {
    pub(super) fn new(plan: impl FnMut(usize, Op) -> Option<Fault> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            count: 0,
            plan: Box::new(plan),
            after: Box::new(|_| {}),
            unreadable: None,
            model: Model::default(),
        })))
    }

    /// Calls `after` when an operation is done, before its caller knows.
    pub(super) fn watched(after: impl FnMut(&Model) + Send + 'static) -> Self {
        let probe = Self::new(|_, _| None);
        probe.lock().after = Box::new(after);
        probe
    }

    pub(super) fn plan(&self, plan: impl FnMut(usize, Op) -> Option<Fault> + Send + 'static) {
        self.lock().plan = Box::new(plan);
    }

    /// Lets every look beyond the header of `file` fail, until it is told of none.
    pub(super) fn hide(&self, file: Option<PathBuf>) {
        self.lock().unreadable = file;
    }

    /// Operations so far.
    pub(super) fn count(&self) -> usize {
        self.lock().count
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    fn doing<T>(&self, op: Op, work: impl FnOnce(&mut Model) -> io::Result<T>) -> io::Result<T> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let index = inner.count;
        inner.count += 1;
        if let Some(fault) = (inner.plan)(index, op) {
            return Err(fault.into());
        }
        let done = work(&mut inner.model);
        (inner.after)(&inner.model);
        done
    }
}

impl Disk for Probe {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        self.doing(Op::Create, |model| {
            let file = Local.create(path)?;
            model.next += 1;
            model.names.insert(path.to_owned(), model.next);
            Ok(Box::new(File {
                probe: self.clone(),
                id: model.next,
                written: Vec::new(),
                file,
            }) as Box<dyn Output>)
        })
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let hidden = self.lock().unreadable.as_deref() == Some(path);
        self.doing(Op::Read, |_| match Local.read(path, limit)? {
            beyond if hidden && beyond.len() > HEADER => Err(Fault::Other.into()),
            bytes => Ok(bytes),
        })
    }

    fn cut(&self, path: &Path, length: u64) -> io::Result<()> {
        self.doing(Op::Cut, |_| Local.cut(path, length))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.doing(Op::Rename, |model| {
            Local.rename(from, to)?;
            if let Some(id) = model.names.remove(from) {
                model.names.insert(to.to_owned(), id);
            }
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.doing(Op::Remove, |model| {
            Local.remove(path)?;
            model.names.remove(path);
            Ok(())
        })
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.doing(Op::SyncFolder, |model| {
            let within = |name: &PathBuf| name.parent() == Some(path);
            model.durable_names.retain(|name, _| !within(name));
            let names = model.names.iter().filter(|(name, _)| within(name));
            let names: Vec<_> = names.map(|(name, id)| (name.clone(), *id)).collect();
            model.durable_names.extend(names);
            Ok(())
        })
    }

    fn free(&self, _: &Path) -> io::Result<u64> {
        self.doing(Op::Free, |_| Ok(1 << 40))
    }
}

struct File {
    probe: Probe,
    id: usize,
    written: Vec<u8>,
    file: Box<dyn Output>,
}

impl Output for File {
    /// Takes half at a time; of a write that fails, a part is in the file.
    fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let all: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let half = all.get(..all.len().div_ceil(2)).unwrap();
        let Self { file, written, .. } = self;
        let taken = file.write(&[IoSlice::new(half)])?;
        written.extend(&half[..taken]);
        self.probe.doing(Op::Write, |_| Ok(taken))
    }

    fn sync(&mut self) -> io::Result<()> {
        let Self {
            probe, id, written, ..
        } = self;
        probe.doing(Op::Sync, |model| {
            model.durable.insert(*id, written.clone());
            Ok(())
        })
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let Self {
            probe,
            written,
            file,
            ..
        } = self;
        probe.doing(Op::Cut, |_| {
            file.cut(length)?;
            written.truncate(usize::try_from(length).unwrap());
            Ok(())
        })
    }
}
