//! Reads what every signal has: attributes and their values, resources, scopes.

use super::reader::Reader;
use super::wire::{Fault, Key, Wire};
use crate::decode::message::{KeyValue, Scope, Value};

impl<'b> Reader<'b> {
    /// Adds an attribute to the list begun last.
    #[inline]
    pub(super) fn attribute(&mut self, wire: &mut Wire<'b>, key: Key) -> Result<(), Fault> {
        let attribute = self.key_value(wire.message(key)?)?;
        self.attributes.push(attribute, &mut self.room)?;
        Ok(())
    }

    fn key_value(&mut self, mut wire: Wire<'b>) -> Result<KeyValue<'b>, Fault> {
        let mut attribute = KeyValue::default();
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => attribute.key = wire.text(key)?,
                2 => self.value(wire.message(key)?, &mut attribute.value)?,
                // A place in a table that only profiles have.
                3 => drop(wire.int32(key)?),
                _ => wire.skip(key)?,
            }
        }
        Ok(attribute)
    }

    /// Reads a value into the one that an earlier part of the same message gave.
    fn value(&mut self, mut wire: Wire<'b>, value: &mut Option<Value<'b>>) -> Result<(), Fault> {
        while let Some(key) = wire.key()? {
            *value = match key.tag {
                1 => Some(Value::String(wire.text(key)?)),
                2 => Some(Value::Bool(wire.boolean(key)?)),
                3 => Some(Value::Int(wire.int64(key)?)),
                4 => Some(Value::Double(wire.double(key)?)),
                5 => {
                    let list = wire.message(key)?;
                    Some(self.array(list, value.as_ref())?)
                }
                6 => {
                    let list = wire.message(key)?;
                    Some(self.kvlist(list, value.as_ref())?)
                }
                7 => Some(Value::Bytes(wire.bytes(key)?)),
                // A place in a table that only profiles have: the value counts as not set.
                8 => {
                    wire.int32(key)?;
                    None
                }
                _ => {
                    wire.skip(key)?;
                    continue;
                }
            };
        }
        Ok(())
    }

    fn array(
        &mut self,
        mut wire: Wire<'b>,
        before: Option<&Value<'b>>,
    ) -> Result<Value<'b>, Fault> {
        let before = match before {
            Some(Value::Array(values)) => values,
            _ => &[][..],
        };
        let start = self.values.resume(before, &mut self.room)?;
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => {
                    let mut value = None;
                    self.value(wire.message(key)?, &mut value)?;
                    self.values.push(value, &mut self.room)?;
                }
                _ => wire.skip(key)?,
            }
        }
        Ok(Value::Array(self.values.end(start, self.arena)))
    }

    fn kvlist(
        &mut self,
        mut wire: Wire<'b>,
        before: Option<&Value<'b>>,
    ) -> Result<Value<'b>, Fault> {
        let before = match before {
            Some(Value::Kvlist(attributes)) => attributes,
            _ => &[][..],
        };
        let start = self.attributes.resume(before, &mut self.room)?;
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => self.attribute(&mut wire, key)?,
                _ => wire.skip(key)?,
            }
        }
        Ok(Value::Kvlist(self.attributes.end(start, self.arena)))
    }

    /// Reads a resource into the attributes that an earlier part of the same message gave.
    pub(super) fn resource(
        &mut self,
        mut wire: Wire<'b>,
        attributes: &mut &'b [KeyValue<'b>],
    ) -> Result<(), Fault> {
        let start = self.attributes.resume(attributes, &mut self.room)?;
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => self.attribute(&mut wire, key)?,
                2 => drop(wire.uint32(key)?),
                3 => entity_ref(wire.message(key)?)?,
                _ => wire.skip(key)?,
            }
        }
        *attributes = self.attributes.end(start, self.arena);
        Ok(())
    }

    /// Reads a scope into what an earlier part of the same message gave.
    pub(super) fn scope(&mut self, mut wire: Wire<'b>, scope: &mut Scope<'b>) -> Result<(), Fault> {
        let before = scope.attributes;
        let start = self.attributes.resume(before, &mut self.room)?;
        while let Some(key) = wire.key()? {
            match key.tag {
                1 => scope.name = wire.text(key)?,
                2 => scope.version = wire.text(key)?,
                3 => self.attribute(&mut wire, key)?,
                4 => drop(wire.uint32(key)?),
                _ => wire.skip(key)?,
            }
        }
        scope.attributes = self.attributes.end(start, self.arena);
        Ok(())
    }
}

/// Reads what nothing is made of, to know that it is sound.
fn entity_ref(mut wire: Wire<'_>) -> Result<(), Fault> {
    while let Some(key) = wire.key()? {
        match key.tag {
            1..=4 => drop(wire.text(key)?),
            _ => wire.skip(key)?,
        }
    }
    Ok(())
}
