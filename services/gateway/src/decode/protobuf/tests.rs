//! What the protobuf decoder promises: what `prost` does with the generated types, in less room.

use bumpalo::Bump;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

use super::super::message::{Data, Request};
use super::super::{DecodeError, Decoded, arbitrary, generated};

fn metrics<'b>(body: &'b [u8], arena: &'b Bump) -> Result<Decoded<'b>, DecodeError> {
    super::metrics(body, u64::MAX, arena)
}

/// Wraps `body` as field `number` of a message around it.
fn nested(number: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    prost::encode_length_delimiter(body.len(), &mut bytes).unwrap();
    bytes.extend_from_slice(body);
    bytes
}

/// A request whose only metric is `metric`.
fn around_metric(metric: &[u8]) -> Vec<u8> {
    nested(1, &nested(2, &nested(2, metric)))
}

/// A request whose only histogram point is `point`.
fn around(point: &[u8]) -> Vec<u8> {
    around_metric(&nested(9, &nested(1, point)))
}

/// What both decoders make of a body: the same message, written out, or nothing.
fn compared(body: &[u8]) -> Option<Vec<u8>> {
    let arena = Bump::new();
    let own = metrics(body, &arena).map(|decoded| generated::of(&decoded.request).encode_to_vec());
    let generated = ExportMetricsServiceRequest::decode(body)
        .map(|request| generated::reduced(request).encode_to_vec());
    match (own, generated) {
        (Ok(own), Ok(generated)) => {
            assert_eq!(own, generated, "{body:?}");
            Some(own)
        }
        (Err(_), Err(_)) => None,
        (own, generated) => panic!("{own:?} but {generated:?} of {body:?}"),
    }
}

fn bucket_counts(body: &[u8]) -> Vec<u64> {
    let arena = Bump::new();
    let Request { resource_metrics } = metrics(body, &arena).unwrap().request;
    match resource_metrics[0].scope_metrics[0].metrics[0].data {
        Some(Data::Histogram { points, .. }) => points[0].bucket_counts.to_vec(),
        other => panic!("not a histogram: {other:?}"),
    }
}

#[test]
fn protobuf_accepts_packed_and_unpacked_repeated_numbers() {
    let [two, three] = [2_u64.to_le_bytes(), 3_u64.to_le_bytes()];
    let packed = nested(6, &[two, three].concat());
    let unpacked = [&[6 << 3 | 1], &two[..], &[6 << 3 | 1], &three[..]].concat();
    assert_eq!(bucket_counts(&around(&packed)), [2, 3]);
    assert_eq!(bucket_counts(&around(&unpacked)), [2, 3]);
    assert_eq!(
        bucket_counts(&around(&[packed, unpacked].concat())),
        [2, 3, 2, 3]
    );
}

#[test]
fn protobuf_of_no_bytes_is_an_empty_request() {
    let arena = Bump::new();
    assert_eq!(metrics(b"", &arena).unwrap().request, Request::default());
}

#[test]
fn protobuf_nests_as_deep_as_prost_does_and_no_deeper() {
    // An attribute's value in lists in lists, and unknown groups in groups, at every depth around the limit.
    for levels in 0..60 {
        let mut value = nested(1, b"x");
        for _ in 0..levels {
            value = nested(5, &nested(1, &value));
        }
        let point = nested(9, &nested(2, &value));
        assert_eq!(
            compared(&around(&point)).is_some(),
            levels <= 46,
            "{levels}"
        );
    }
    for levels in 80..110 {
        let groups = [vec![0x7b; levels], vec![0x7c; levels]].concat();
        assert_eq!(compared(&groups).is_some(), levels <= 100, "{levels}");
        compared(&around(&groups));
    }
}

#[test]
fn protobuf_nested_very_deep_is_refused() {
    let mut value = Vec::new();
    for _ in 0..2_000 {
        value = nested(5, &nested(1, &value));
    }
    let arena = Bump::new();
    let body = around(&nested(9, &nested(2, &value)));
    let error = metrics(&body, &arena).unwrap_err();
    assert!(error.message.contains("nest deeper than 100"), "{error}");
}

#[test]
fn messages_in_parts_are_put_together_as_prost_does() {
    let text = |text: &[u8]| nested(1, text);
    let attribute = |key: &[u8], value: &[u8]| [nested(1, key), nested(2, value)].concat();
    let list = |values: &[&[u8]]| {
        nested(
            5,
            &values
                .iter()
                .map(|v| nested(1, v))
                .collect::<Vec<_>>()
                .concat(),
        )
    };
    let map = |key: &[u8]| nested(6, &nested(1, &attribute(key, &text(b"v"))));
    let (one, two) = (text(b"1"), text(b"2"));
    let values: [Vec<Vec<u8>>; 5] = [
        vec![list(&[&one]), list(&[&two, &one])],
        vec![map(b"a"), map(b"b")],
        vec![list(&[&one]), text(b"x"), list(&[&two])],
        vec![text(b"x"), Vec::new()],
        vec![text(b"x"), vec![0x40, 7]],
    ];
    for parts in values {
        let fields: Vec<_> = parts.iter().map(|part| nested(2, part)).collect();
        let point = nested(9, &[nested(1, b"k"), fields.concat()].concat());
        assert!(compared(&around(&point)).is_some(), "{parts:?}");
    }
    // Resource, scope, points of the same and of another type, buckets.
    let number = |time: u8| nested(1, &[0x19, time, 0, 0, 0, 0, 0, 0, 0]);
    let resource = |key: &[u8]| nested(1, &nested(1, &attribute(key, &one)));
    let scope = |key: &[u8]| {
        nested(
            1,
            &[nested(3, &attribute(key, &one)), nested(1, key)].concat(),
        )
    };
    let metric = [
        nested(5, &number(1)),
        nested(1, b"m"),
        nested(5, &number(2)),
    ]
    .concat();
    let retyped = [&metric[..], &nested(7, &number(3)), &nested(7, &[0x10, 2])].concat();
    let positive = [nested(8, &[0x12, 2, 5, 6]), nested(8, &[0x08, 3, 0x10, 9])].concat();
    let exponential = nested(10, &nested(1, &positive));
    for metric in [metric, retyped, exponential] {
        let scopes = [scope(b"a"), nested(2, &metric), scope(b"b")].concat();
        let resources = [resource(b"c"), nested(2, &scopes), resource(b"d")].concat();
        assert!(compared(&nested(1, &resources)).is_some());
    }
}

#[test]
fn scalars_out_of_range_are_cut_off_as_prost_does() {
    let longest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    let too_long = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
    let padded = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
    for (number, is_number) in [(longest, true), (too_long, false), (padded, true)] {
        let of = |field: u8| [&[field << 3], &number[..]].concat();
        let sum = nested(7, &[of(2), of(3)].concat());
        let exponential = nested(10, &[of(2), nested(1, &[of(6), of(10)].concat())].concat());
        let boolean = nested(9, &nested(1, &nested(9, &nested(2, &of(2)))));
        for metric in [sum, exponential, boolean] {
            assert_eq!(compared(&around_metric(&metric)).is_some(), is_number);
        }
    }
}

#[test]
fn a_body_of_empty_messages_is_refused_before_they_take_memory() {
    let body = [0x0a, 0x00].repeat(1000);
    let arena = Bump::new();
    let read = super::metrics(&body, 1 << 20, &arena).unwrap();
    assert_eq!(read.request.resource_metrics.len(), 1000);
    let error = super::metrics(&body, 10_000, &arena).unwrap_err();
    assert!(error.too_large, "{error}");
    assert!(
        error.message.contains("more than 10000 bytes of memory"),
        "{error}"
    );
}

#[test]
fn no_message_is_small_enough_to_get_past_the_room() {
    let empty = |number: u8| [number << 3 | 2, 0];
    let in_point = |number: u8, fields: &[u8]| nested(number, &nested(1, fields));
    let of_value = |value: &[u8]| in_point(9, &nested(9, &nested(2, value)));
    let metrics = [
        nested(5, &empty(1).repeat(1000)),
        nested(7, &empty(1).repeat(1000)),
        nested(9, &empty(1).repeat(1000)),
        nested(10, &empty(1).repeat(1000)),
        nested(11, &empty(1).repeat(1000)),
        in_point(5, &empty(5).repeat(1000)),
        in_point(5, &empty(7).repeat(1000)),
        in_point(11, &empty(6).repeat(1000)),
        in_point(9, &nested(6, &[0; 8000])),
        in_point(9, &nested(7, &[0; 8000])),
        in_point(10, &nested(8, &nested(2, &[0; 1000]))),
        of_value(&nested(5, &empty(1).repeat(1000))),
        of_value(&nested(6, &empty(1).repeat(1000))),
        // A list that is put together from parts is copied for each of them.
        in_point(9, &nested(9, &nested(2, &nested(5, &empty(1))).repeat(300))),
    ];
    for metric in metrics {
        let body = around_metric(&metric);
        assert!(super::metrics(&body, 1 << 24, &Bump::new()).is_ok());
        let arena = Bump::new();
        let error = super::metrics(&body, 10_000, &arena).unwrap_err();
        assert!(error.too_large, "{error} of {metric:?}");
        assert!(arena.allocated_bytes() < 20_000);
    }
}

#[test]
fn protobuf_faults_say_where_they_are_and_what_the_body_probably_is() {
    let arena = Bump::new();
    let message = |body: &[u8]| metrics(body, &Bump::new()).unwrap_err().message;
    assert!(message(b"{\"resourceMetrics\":[]}").contains("Content-Type: application/json"));
    assert!(message(&[0x1f, 0x8b, 8, 0]).contains("Content-Encoding: gzip"));
    let error = metrics(&[0x0a, 0x05, 0x01], &arena).unwrap_err();
    assert_eq!(
        error.message,
        "body is not valid OTLP/protobuf: a length beyond the end of the message around it at byte 2"
    );
    assert_eq!(error.offset, Some(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_valid_reads_as_it_does_with_prost(request in arbitrary::request()) {
        prop_assert!(compared(&request.encode_to_vec()).is_some());
    }

    #[test]
    fn what_is_damaged_reads_or_is_refused_as_it_is_with_prost(
        request in arbitrary::request(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut body = request.encode_to_vec();
        if !body.is_empty() {
            for (at, byte) in damage {
                let at = at.index(body.len());
                body[at] = byte;
            }
            if let Some(cut) = cut {
                body.truncate(cut.index(body.len()));
            }
        }
        compared(&body);
    }

    #[test]
    fn any_bytes_in_any_message_read_or_are_refused_as_they_are_with_prost(
        body in vec(prop_oneof![0..0x80_u8, any::<u8>()], 0..60),
        wraps in vec(prop::sample::select(&[1_u8, 2, 5, 6, 7, 8, 9, 10, 11, 12][..]), 0..6),
    ) {
        let body = wraps.iter().fold(body, |body, number| nested(*number, &body));
        compared(&body);
        compared(&around_metric(&body));
        compared(&around(&body));
    }
}
