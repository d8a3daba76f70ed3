//! Reads what every signal has: attributes and their values, resources, scopes.

use super::fault::Fault;
use super::reader::{Message, Reader};
use crate::decode::message::{KeyValue, Scope, Value};

impl<'a> Reader<'a> {
    /// Reads the attributes of a resource.
    pub(super) fn resource(&mut self) -> Result<&'a [KeyValue<'a>], Fault> {
        self.message().map(|Resource(attributes)| attributes)
    }
}

#[derive(Default)]
struct Resource<'a>(&'a [KeyValue<'a>]);

impl<'a> Message<'a> for Resource<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "attributes" => self.0 = json.messages()?,
            "droppedAttributesCount" => drop(json.whole::<u32>()?),
            "entityRefs" => drop(json.messages::<EntityRef>()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Of which nothing is kept.
#[derive(Clone, Copy, Default)]
struct EntityRef;

impl<'a> Message<'a> for EntityRef {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "schemaUrl" | "type" => drop(json.string()?),
            "idKeys" | "descriptionKeys" => drop(json.list(Reader::string)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for Scope<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "name" => self.name = json.string()?,
            "version" => self.version = json.string()?,
            "attributes" => self.attributes = json.messages()?,
            "droppedAttributesCount" => drop(json.whole::<u32>()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for KeyValue<'a> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "key" => self.key = json.string()?,
            "value" => self.value = json.message()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> Message<'a> for Option<Value<'a>> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        if !matches!(
            key,
            "stringValue"
                | "boolValue"
                | "intValue"
                | "doubleValue"
                | "arrayValue"
                | "kvlistValue"
                | "bytesValue"
        ) {
            return Ok(false);
        }
        if json.null() {
            return Ok(true);
        }
        *self = Some(match key {
            "stringValue" => Value::String(json.string()?),
            "boolValue" => Value::Bool(json.boolean()?),
            "intValue" => Value::Int(json.whole()?),
            "doubleValue" => Value::Double(json.double()?),
            "arrayValue" => json.message().map(|Values(values)| Value::Array(values))?,
            "kvlistValue" => json.message().map(|Values(values)| Value::Kvlist(values))?,
            _ => Value::Bytes(json.bytes()?),
        });
        Ok(true)
    }
}

/// A list or a map.
struct Values<'a, V>(&'a [V]);

impl<V> Default for Values<'_, V> {
    fn default() -> Self {
        Self(&[])
    }
}

impl<'a, V: Message<'a> + Copy> Message<'a> for Values<'a, V> {
    fn field(&mut self, key: &str, json: &mut Reader<'a>) -> Result<bool, Fault> {
        match key {
            "values" => self.0 = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
