# `all` is the whole service in one container, and the default. For larger deployments there is one target
# per role: `api` (no Chrome, no fonts), `renderer`, and `nats` (its users and a data directory that is not
# root's). See docs/deployment.md.
ARG NODE=24
# Debian 12 is where Chrome was measured. Build again with --pull to get its security updates.
ARG DEBIAN=bookworm
ARG NATS=2.12

FROM node:${NODE}-${DEBIAN}-slim AS base
# No port of a container is reachable from outside unless it is published, so all addresses will do.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data HOME=/tmp
# A new volume takes over its owner and mode.
RUN install --directory --owner=1000 --group=1000 --mode=700 /data
WORKDIR /app
EXPOSE 8080
STOPSIGNAL SIGTERM

FROM base AS dashboard
WORKDIR /app/dashboard
COPY dashboard/package.json dashboard/package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts
COPY dashboard .
# The pages use the checks of the verifier and the samples, by their places beside the folder of the dashboard. The client
# is packed beside them, for GET /client.tgz.
COPY verifier ../verifier/
COPY samples ../samples/
COPY client ../client/
COPY tsconfig.json ../
RUN node node_modules/vite/bin/vite.js build

FROM base AS app
COPY package.json package-lock.json .npmrc ./
# The lock file names the workspace, of which the service imports the sources.
COPY client/package.json client/
# No package needs its install script: better-sqlite3 brings its binaries.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY . .
COPY --from=dashboard /app/dashboard/dist dashboard/dist/

FROM base AS renderer
# qpdf works on PDFs. fontconfig makes the index of the fonts here, or each Chrome would make it at its start;
# tini takes in the processes that Chrome leaves behind. The fonts are those of setup/apt.mjs.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends chromium-headless-shell fontconfig qpdf tini \
    fonts-liberation fonts-noto-color-emoji fonts-noto-cjk fonts-noto-core \
  && rm -rf /var/lib/apt/lists/*
COPY --from=app /app /app
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "/app/deploy/healthcheck.mjs", "/readyz"]
ENTRYPOINT ["/usr/bin/tini", "--", "/app/bin/pressledger"]
CMD ["renderer"]

FROM nats:${NATS}-alpine AS nats
RUN install -d -o 1000 -g 1000 -m 700 /data
COPY deploy/nats.conf deploy/nats-accounts.conf /etc/nats/
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8222/healthz"]
CMD ["nats-server", "--config", "/etc/nats/nats.conf"]

FROM base AS api
COPY --from=app /app /app
USER 1000:1000
# /healthz, not /readyz: while another part is away it still answers what it can, and replacing it would
# help nobody. The first start on a long log builds its read models, which takes its time.
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s --retries=3 \
  CMD ["node", "/app/deploy/healthcheck.mjs", "/healthz"]
ENTRYPOINT ["/app/bin/pressledger"]
CMD ["api"]

FROM renderer AS all
# As for `api`; the time to start covers Chrome as well.
HEALTHCHECK --interval=10s --timeout=5s --start-period=300s --retries=3 \
  CMD ["node", "/app/deploy/healthcheck.mjs", "/healthz"]
CMD ["start"]
