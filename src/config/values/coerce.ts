/** Converts a tree to the types of a schema: source text where text is expected, and URNs in any notation. */
import { URN_TYPES, urnOf } from '../../service/names/urn.ts';
import { type JsonSchema, takesNull, urnChoice, withoutNull } from '../json-schema.ts';
import type { ScalarTree, Tree } from '../document/tree.ts';

/** The tree's value in the types of a shape. Values that do not fit stay unchanged, so that the schema refuses them. */
export function coerce(shape: JsonSchema, tree: Tree): unknown {
  if (tree.kind === 'scalar' && isNull(tree) && takesNull(shape)) return null;
  const due = withoutNull(shape);
  switch (tree.kind) {
    case 'list':
      return tree.items.map((it) => coerce(due.items ?? {}, it));
    case 'map':
      return Object.fromEntries(tree.entries.map(({ key, value }) => [key, coerce(propertyOf(due, key), value)]));
    case 'scalar':
      return scalar(due, tree);
  }
}

const isNull = (tree: ScalarTree): boolean => tree.value === null;

function propertyOf(shape: JsonSchema, key: string): JsonSchema {
  const holders = shape.anyOf ?? [shape];
  for (const { properties, additionalProperties } of holders) {
    const property = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property) return property;
    if (typeof additionalProperties === 'object') return additionalProperties;
  }
  return {};
}

function scalar(due: JsonSchema, tree: ScalarTree): unknown {
  const urn = urnChoice(due);
  if (urn) return urnFrom(tree, urn === due);
  if (due.anyOf) return choice(due.anyOf, tree);
  if (isNull(tree)) return null;
  switch (due.type) {
    case 'string':
      return tree.text;
    case 'integer':
    case 'number':
      return tree.isUntyped ? numberIn(tree.text) : tree.value;
    case 'boolean':
      return tree.isUntyped ? flagIn(tree) : tree.value;
    default:
      return tree.value;
  }
}

/**
 * A name may contain a colon. So where names are allowed too, a text is a URN only if it begins with `urn:li:` or with a
 * known type.
 */
function urnFrom(tree: ScalarTree, only: boolean): unknown {
  if (isNull(tree)) return null;
  const urn = urnOf(tree.text);
  if (only) return urn ?? tree.text;
  if (tree.text.startsWith('urn:li:')) return urn ?? {};
  return urn && URN_TYPES.includes(urn.type) ? urn : tree.text;
}

function choice(choices: readonly JsonSchema[], tree: ScalarTree): unknown {
  const number = choices.find((it) => it.type === 'number' || it.type === 'integer');
  const asNumber = number && scalar(number, tree);
  if (typeof asNumber === 'number') return asNumber;
  const flag = choices.find((it) => it.type === 'boolean');
  const asFlag = flag && scalar(flag, tree);
  if (typeof asFlag === 'boolean') return asFlag;
  return choices.some((it) => it.type === 'string') && !isNull(tree) ? tree.text : tree.value;
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
const numberIn = (text: string): unknown => (NUMBER.test(text.trim()) ? Number(text) : text);

function flagIn({ value, text }: ScalarTree): unknown {
  if (typeof value === 'boolean') return value;
  return text === 'true' ? true : text === 'false' ? false : text;
}

/** The tree as a list if the shape is a list: a single value becomes one element. */
export function elementwise(shape: JsonSchema, tree: Tree): Tree {
  const due = withoutNull(shape);
  const single = due.type === 'array' && tree.kind !== 'list' && !(tree.kind === 'scalar' && isNull(tree));
  return single ? { kind: 'list', items: [tree], span: tree.span } : tree;
}
