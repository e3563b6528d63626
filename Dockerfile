FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY toolchain/package.json toolchain/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY migrations migrations
RUN npm run build && npm ci --omit=dev --omit=optional

FROM node:24.21.0-bookworm-slim
# Compiled code is kept on the volume, so that it outlasts a container.
ENV NODE_ENV=production XDG_CACHE_HOME=/data/.cache
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY configs configs
COPY LICENSE ./
# The only place the program writes to, so that the rest can be mounted read-only.
RUN mkdir /data && chown node:node /data
VOLUME /data
WORKDIR /data
USER node
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/src/main.js"]
