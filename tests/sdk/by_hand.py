"""Pushes one JSON request with nothing but the standard library, and prints status and body.

Arguments: base URL, tenant, key, time in milliseconds.
"""

import base64
import json
import sys
import urllib.request

base, tenant, key, at = sys.argv[1:]
point = {
    "attributes": [{"key": "worker.name", "value": {"stringValue": "w/1"}}],
    "timeUnixNano": str(int(at) * 1_000_000),
    "asInt": "9007199254740993",
}
body = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [
    {"name": "by.hand", "unit": "By", "gauge": {"dataPoints": [point]}},
]}]}]}
request = urllib.request.Request(
    f"{base}/v1/metrics",
    data=json.dumps(body).encode(),
    headers={
        "Content-Type": "application/json",
        "Authorization": "Basic " + base64.b64encode(f"{tenant}:{key}".encode()).decode(),
    },
)
with urllib.request.urlopen(request, timeout=60) as answer:
    print(answer.status, answer.read().decode())
