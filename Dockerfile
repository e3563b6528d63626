# The image of every role: sync, schedule, worker, migrate. docs/deploy.md shows how to use it.
#
# The official image of the Node version in toolchain/package.json, by the digest of its index for all platforms. To use a
# copy in your own registry: docker build --build-arg NODE_IMAGE=registry.example.com/node@sha256:...
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY toolchain toolchain
RUN npm ci
COPY rolldown.config.ts ./
COPY src src
COPY migrations migrations
RUN npm run build && npm ci --omit=dev --omit=optional

FROM ${NODE_IMAGE}
# Compiled code is kept on the volume, so that it outlives a container.
# The spool is on the volume too, because the folder of the config is usually read-only.
ENV NODE_ENV=production XDG_CACHE_HOME=/data/.cache SLUICE_SPOOL=/data/.sluice/spool
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY configs configs
COPY deploy/healthcheck.ts deploy/
COPY LICENSE ./
# The only place the program writes to, so that the rest can be mounted read-only.
RUN mkdir /data && chown node:node /data
VOLUME /data
WORKDIR /data
# A number, so that Kubernetes can check that it is not root.
USER 1000:1000
# The program handles signals as process 1 too, so no init is needed.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "/app/deploy/healthcheck.ts"]
ENTRYPOINT ["node", "--", "/app/dist/src/main.js"]
