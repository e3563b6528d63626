/** Published schemas for the files in `deploy/`, and these files as values. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseAllDocuments } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
type Json = Readonly<Record<string, unknown>>;

/** The text of a file of the checkout. */
export const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every document of a YAML file; throws on invalid YAML, such as a repeated key. */
export function documentsOf(path: string): Json[] {
  return parseAllDocuments(textOf(path), { merge: true }).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as Json;
  });
}

/** The only document of a YAML file. */
export function documentOf(path: string): Json {
  const [document = {}] = documentsOf(path);
  return document;
}

// Not strict: the schemas have keywords of their own, and formats that say nothing more than their patterns.
const SETTINGS = { strict: false, validateFormats: false, allErrors: true } as const;
const schemaOf = (name: string): Json => JSON.parse(textOf(`test/deploy/schemas/${name}.json`)) as Json;

const kubernetes = new Ajv2020(SETTINGS).addSchema(schemaOf('kubernetes-1.31'));
const compose = new Ajv2020(SETTINGS).compile(schemaOf('compose-spec'));
const workflow = new Ajv(SETTINGS).compile(schemaOf('github-workflow'));

/** What the Compose specification refuses in a file, in words; none when it is one. */
export const composeProblems = (value: unknown): string[] => problems(compose, value);

/** What GitHub's schema of workflows refuses. */
export const workflowProblems = (value: unknown): string[] => problems(workflow, value);

/** What the API of Kubernetes refuses in an object of its kind; unknown fields are refused, as `kubectl` does. */
export function kubernetesProblems(value: Json): string[] {
  const kind = String(value['kind']);
  const check = kubernetes.getSchema(`https://kubernetes.io/api/_definitions.json#/$defs/${kind}`);
  return check ? problems(check as ValidateFunction, value) : [`there is no schema of ${kind} here`];
}

function problems(check: ValidateFunction, value: unknown): string[] {
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, message = '', params }) =>
    [instancePath, message, JSON.stringify(params)].join(' '),
  );
}
