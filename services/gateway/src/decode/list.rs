//! Elements of lists, one by one → slices of the arena, within the room for all of them.

use bumpalo::Bump;

/// There is no room for another element.
#[derive(Debug)]
pub(super) struct Full;

/// Bytes that elements of lists may still take.
#[derive(Debug)]
pub(super) struct Room(u64);

impl Room {
    pub(super) fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Takes what `elements` elements need: themselves in the arena, and as much again while the list grows.
    pub(super) fn take<T>(&mut self, elements: usize) -> Result<(), Full> {
        let bytes = elements.saturating_mul(2 * size_of::<T>());
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.0 = self.0.checked_sub(bytes).ok_or(Full)?;
        Ok(())
    }
}

/// Lists of one kind of element that are being read: those of inner messages behind those of outer ones.
#[derive(Debug)]
pub(super) struct Lists<T>(Vec<T>);

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Lists<T> {
    /// Where a list begins that is begun now.
    pub(super) fn begin(&self) -> usize {
        self.0.len()
    }

    /// Adds an element to the list begun last.
    pub(super) fn push(&mut self, element: T, room: &mut Room) -> Result<(), Full> {
        room.take::<T>(1)?;
        self.0.push(element);
        Ok(())
    }

    /// Adds elements to the list begun last.
    pub(super) fn extend(
        &mut self,
        elements: impl ExactSizeIterator<Item = T>,
        room: &mut Room,
    ) -> Result<(), Full> {
        room.take::<T>(elements.len())?;
        self.0.extend(elements);
        Ok(())
    }

    /// Begins a list with the elements of one that was ended before; where it begins.
    pub(super) fn resume(&mut self, elements: &[T], room: &mut Room) -> Result<usize, Full> {
        let start = self.begin();
        self.extend(elements.iter().copied(), room)?;
        Ok(start)
    }

    /// Ends the list that began at `start`.
    pub(super) fn end<'b>(&mut self, start: usize, arena: &'b Bump) -> &'b [T] {
        let list = &self.0[start.min(self.0.len())..];
        let ended: &[T] = if list.is_empty() {
            &[]
        } else {
            arena.alloc_slice_copy(list)
        };
        self.0.truncate(start);
        ended
    }

    /// Forgets the list that began at `start`.
    pub(super) fn forget(&mut self, start: usize) {
        self.0.truncate(start);
    }
}
