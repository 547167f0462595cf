"""A receiver that checks deliveries with the library of Standard Webhooks.

Writes its port, then a line for each delivery: "verified" with its type and id, or "refused" with the reason.
"""
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

secret = os.environ["WEBHOOK_SECRET"]


def say(*words):
    print(*words, flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = Webhook(secret).verify(body, dict(self.headers.items()))
            say("verified", event["type"], event["data"]["id"])
            self.send_response(204)
        except WebhookVerificationError as error:
            say("refused", error)
            self.send_response(401)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
say(server.server_port)
server.serve_forever()
