//! Reads what every signal has: attributes and their values, resources, scopes.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, EntityRef, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use super::fault::Fault;
use super::reader::{Message, Reader};

impl Message for Resource {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "attributes" => self.attributes = json.messages()?,
            "droppedAttributesCount" => self.dropped_attributes_count = json.whole()?,
            "entityRefs" => self.entity_refs = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for EntityRef {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "schemaUrl" => self.schema_url = json.string()?,
            "type" => self.r#type = json.string()?,
            "idKeys" => self.id_keys = json.list(Reader::string)?,
            "descriptionKeys" => self.description_keys = json.list(Reader::string)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for InstrumentationScope {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "name" => self.name = json.string()?,
            "version" => self.version = json.string()?,
            "attributes" => self.attributes = json.messages()?,
            "droppedAttributesCount" => self.dropped_attributes_count = json.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for KeyValue {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "key" => self.key = json.string()?,
            "value" => self.value = json.optional()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for AnyValue {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
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
        self.value = Some(match key {
            "stringValue" => Value::StringValue(json.string()?),
            "boolValue" => Value::BoolValue(json.boolean()?),
            "intValue" => Value::IntValue(json.whole()?),
            "doubleValue" => Value::DoubleValue(json.double()?),
            "arrayValue" => Value::ArrayValue(json.message()?),
            "kvlistValue" => Value::KvlistValue(json.message()?),
            _ => Value::BytesValue(json.bytes()?),
        });
        Ok(true)
    }
}

impl Message for ArrayValue {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "values" => self.values = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Message for KeyValueList {
    fn field(&mut self, key: &str, json: &mut Reader<'_>) -> Result<bool, Fault> {
        match key {
            "values" => self.values = json.messages()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
