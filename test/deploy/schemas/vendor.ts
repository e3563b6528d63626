/**
 * Updates the copies of the published schemas, by hand: `node test/deploy/schemas/vendor.ts FOLDER`, where FOLDER holds the two
 * unpacked wheels that README.md names. Only the Kubernetes kinds that `deploy/` uses are kept, without descriptions.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const KINDS = [
  'configmap-v1',
  'cronjob-batch-v1',
  'deployment-apps-v1',
  'job-batch-v1',
  'networkpolicy-networking-v1',
  'persistentvolumeclaim-v1',
  'poddisruptionbudget-policy-v1',
];
const CHECK_JSONSCHEMA = 'check_jsonschema/builtin_schemas/vendor';
const KUBERNETES = 'kubernetes_validate/kubernetes-json-schema/v1.31.0-local-strict';

type Json = Readonly<Record<string, unknown>>;
const [, , folder = '.'] = process.argv;
const read = (path: string): Json => JSON.parse(readFileSync(join(folder, path), 'utf8')) as Json;
const write = (name: string, schema: unknown): void =>
  writeFileSync(fileURLToPath(new URL(name, import.meta.url)), `${JSON.stringify(schema)}\n`);

/** The schema without its descriptions; a property may have that name. */
const withoutProse = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutProse);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key, it]) => key !== 'description' || typeof it !== 'string');
  return Object.fromEntries(kept.map(([key, it]) => [key, withoutProse(it)]));
};

const REF = /"\$ref":"[^"]*#\/\$defs\/([^"]+)"/g;
const namesIn = (schema: unknown): string[] => [...JSON.stringify(schema).matchAll(REF)].map(([, name = '']) => name);

/** What these schemas refer to, at any distance. */
function reached(from: readonly unknown[], definitions: Json): Json {
  const names = new Set<string>();
  const follow = (schema: unknown): void => {
    for (const name of namesIn(schema).filter((it) => !names.has(it))) {
      names.add(name);
      follow(definitions[name]);
    }
  };
  from.forEach(follow);
  return Object.fromEntries([...names].toSorted().map((name) => [name, definitions[name]]));
}

const all = read(`${KUBERNETES}/_definitions.json`);
const kinds = KINDS.map((kind) => read(`${KUBERNETES}/${kind}.json`));
const byKind = kinds.map(({ $id: _id, ...schema }) => {
  const [{ kind = '' } = {}] = schema['x-kubernetes-group-version-kind'] as readonly { readonly kind?: string }[];
  return [kind, schema] as const;
});
write(
  'kubernetes-1.31.json',
  withoutProse({
    $schema: all['$schema'],
    $id: 'https://kubernetes.io/api/_definitions.json',
    $defs: { ...Object.fromEntries(byKind), ...reached(kinds, all['$defs'] as Json) },
  }),
);
write('compose-spec.json', withoutProse(read(`${CHECK_JSONSCHEMA}/compose-spec.json`)));
write('github-workflow.json', withoutProse(read(`${CHECK_JSONSCHEMA}/github-workflows.json`)));
