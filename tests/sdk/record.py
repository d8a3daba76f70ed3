"""Records one of each instrument with the OpenTelemetry SDK and lets shutdown send it.

Where to, with which headers and compression: the SDK's own environment variables. Prints what was
recorded as JSON: for each instrument its label sets with the value that a reader must find, and the
resource.
"""

import json

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

HOUR_MS = 3_600_000
BOUNDS = [0.01, 0.1, 1.0]
TEMPERATURES = {"0": 41.5, "1": 39.0}

exporter = OTLPMetricExporter()
# Nothing is sent by the clock: one flush in the middle and the one of shutdown.
reader = PeriodicExportingMetricReader(exporter, export_interval_millis=HOUR_MS)
resource = Resource.create(
    {"service.name": "worker", "service.namespace": "shop", "service.instance.id": "w-1"}
)
provider = MeterProvider(metric_readers=[reader], resource=resource)
meter = provider.get_meter("sdk.test", "1.0")

requests = meter.create_counter("sdk.requests", unit="{request}", description="Requests answered")
active = meter.create_up_down_counter("sdk.active", description="Requests in progress")
latency = meter.create_histogram(
    "sdk.latency", unit="s", explicit_bucket_boundaries_advisory=BOUNDS
)
meter.create_observable_gauge(
    "sdk.temperature",
    unit="Cel",
    callbacks=[
        lambda _: [Observation(value, {"gpu": gpu}) for gpu, value in TEMPERATURES.items()]
    ],
)

for amount, route in [(3, "/a"), (4, "/a"), (5, "/b")]:
    requests.add(amount, {"route": route, "http.status": 200})
active.add(5)
active.add(-1)
for seconds in [0.003, 0.04, 0.04, 7.0]:
    latency.record(seconds, {"route": "/a"})

assert provider.force_flush(), "the first export failed"
active.add(-1)
requests.add(10, {"route": "/b", "http.status": 200})
provider.shutdown()

print(
    json.dumps(
        {
            "resource": dict(resource.attributes),
            "sdk.requests": [
                [{"route": "/a", "http.status": "200"}, 7],
                [{"route": "/b", "http.status": "200"}, 15],
            ],
            "sdk.active": [[{}, 3]],
            "sdk.latency": [[{"route": "/a"}, {"bounds": BOUNDS, "counts": [1, 2, 0, 1], "sum": 7.083}]],
            "sdk.temperature": [[{"gpu": gpu}, value] for gpu, value in TEMPERATURES.items()],
        }
    )
)
