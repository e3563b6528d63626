/** Adds a field to the declaration of its object, in the source of a checkout. */
import { UsageError } from '../../src/errors.ts';
import type { ChosenField } from '../../src/flow/promote/choose-field.ts';
import {
  fieldsAt,
  fieldsOfResource,
  nameOf,
  type NodeInFile,
  nodesIn,
  type SourceModule,
  type SyntaxNode,
} from './declaration-source.ts';

/** A source file with its new text. */
export interface EditedFile {
  /** The path below the root of the checkout. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** The file that declares the field's object, with the field added. Throws a UsageError if its code has another form. */
export function editDeclaration(
  modules: ReadonlyMap<string, SourceModule>,
  { unknown, type, personal }: ChosenField,
  about: string,
): EditedFile {
  const { at, path } = unknown;
  const root = fieldsOfResource(modules, at.resource.name);
  const found = root && fieldsAt(modules, root, [...at.list, ...path.slice(0, -1)]);
  const wrapper = personal === undefined ? undefined : personal === 'content' ? 'personal' : 'identifier';
  const field = `${type.constructor}(${quotedText(about)})`;
  const property = `${path.at(-1)}: ${wrapper === undefined ? field : `${wrapper}(${field})`}`;
  const inserted = found && insertion(found, property);
  if (!found || !inserted || !found.file.constructors)
    throw new UsageError(
      `promote: the code that declares ${at.resource.name} has no list of fields for ${unknown.field} that can be extended`,
      { next: `Add ${property} by hand in src/service/resources/, then run npm run migration:draft.` },
    );
  const constructors = [type.constructor, ...(wrapper === undefined ? [] : [wrapper])];
  const { file } = found;
  const insertions = [...inserted, ...importing(file.constructors, constructors, file.text)];
  return { path: file.path, before: file.text, after: withInsertions(file.text, insertions) };
}

/** Adds a property at the end of a literal. A name for the fields is replaced by a literal that spreads it. */
function insertion({ file: { text }, node }: NodeInFile, property: string): Insertion[] | undefined {
  if (nameOf(node) !== undefined)
    return [
      { at: node.start, text: '{ ...' },
      { at: node.end, text: `, ${property} }` },
    ];
  if (node.type !== 'ObjectExpression') return undefined;
  const last = nodesIn(node, 'properties').at(-1);
  if (!last) return [{ at: node.start + 1, text: ` ${property} ` }];
  return [{ at: last.end, text: next(text, node, last, property) }];
}

/** The text that continues a list of properties or names: on a line of its own if the list has several lines. */
function next(text: string, list: SyntaxNode, last: SyntaxNode, added: string): string {
  if (!text.slice(last.end, list.end).includes('\n')) return `, ${added}`;
  const line = text.slice(text.lastIndexOf('\n', last.end - 1) + 1);
  const [indent = ''] = /^ */.exec(line) ?? [];
  return `,\n${indent}${added}`;
}

/** Adds the names that the import lacks. */
function importing(statement: SyntaxNode | undefined, names: readonly string[], text: string): Insertion[] {
  const specifiers = nodesIn(statement, 'specifiers');
  const last = specifiers.at(-1);
  if (!statement || !last) return [];
  const known = new Set(specifiers.map((it) => text.slice(it.start, it.end)));
  const lacking = names.filter((it) => !known.has(it));
  return lacking.map((it) => ({ at: last.end, text: next(text, statement, last, it) }));
}

function withInsertions(text: string, insertions: readonly Insertion[]): string {
  let done = text;
  for (const { at, text: added } of insertions.toSorted((a, b) => b.at - a.at))
    done = done.slice(0, at) + added + done.slice(at);
  return done;
}

const quotedText = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", '’').replaceAll(/\s+/g, ' ')}'`;
