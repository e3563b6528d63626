/** Finds settings of a config that are allowed but risky. `sluice check` shows them. */
import type { SyncDefinition } from './definition.ts';
import { problemAt } from './document/problem.ts';
import type { SourceFile, Span } from './document/source.ts';
import { entryOf } from './document/tree.ts';
import type { ConfigFile } from './files.ts';

/** The warnings about these files and the syncs in them, each with its position. */
export function warningsOf(files: readonly ConfigFile[], syncs: readonly SyncDefinition[]): string[] {
  const named = new Map(syncs.map((sync) => [sync.name, sync]));
  return files.flatMap(({ tree, source }, place) => {
    const written = entryOf(tree, 'syncs')?.value;
    const entries = written?.kind === 'map' ? written.entries : [];
    return [
      ...(place === 0 ? writtenSecrets({ tree, source }) : []),
      ...entries.flatMap(({ key, keySpan, value }) =>
        uselessLookback(named.get(key), source, entryOf(value, 'max_age')?.keySpan ?? keySpan),
      ),
    ];
  });
}

/** Warnings about secrets that the file contains, without the secrets. */
function writtenSecrets({ tree, source }: Pick<ConfigFile, 'tree' | 'source'>): string[] {
  const token = entryOf(entryOf(tree, 'service')?.value, 'token');
  if (token?.value.kind !== 'scalar' || token.value.text === '' || token.value.variables.length > 0) return [];
  return [
    warningAt(
      source,
      token.keySpan,
      'service.token is written in the file, so backups and version control keep it; write ${SLUICE_SERVICE_TOKEN} and set the variable',
    ),
  ];
}

/** A window whose days have answers that are still fresh when the lookback would request them again. */
function uselessLookback(sync: SyncDefinition | undefined, source: SourceFile, span: Span): string[] {
  if (!sync?.window || sync.maxAgeMs === undefined || sync.lookbackMs === 0 || sync.maxAgeMs < sync.lookbackMs)
    return [];
  return [
    warningAt(
      source,
      span,
      `max_age of ${JSON.stringify(sync.name)} is not shorter than the lookback of its window, so a run does not see entries that arrived after their day was requested; set a max_age shorter than the lookback`,
    ),
  ];
}

function warningAt(source: SourceFile, span: Span, message: string): string {
  const { file, line, column } = problemAt(source, span, '');
  return `${file}:${line}:${column}: ${message}`;
}
