/** The files that are generated from the code and committed. `docs --check` compares them with the code. */
import type { Command } from '../command.ts';
import { commandsPage } from './commands.ts';
import { entitiesPage, schemaDbml } from './diagram.ts';
import { dictionaryPage } from './dictionary-page.ts';
import { endpointsPage } from './endpoints.ts';
import { errorsPage } from './errors.ts';
import { tablesPage } from './tables.ts';

export interface GeneratedFile {
  /** Relative to the root of the checkout. */
  readonly path: string;
  readonly content: string;
}

/** Every generated file with its current contents. `schemaText` is the JSON Schema of a config for editors. */
export const generatedFiles = (commands: readonly Command[], schemaText: string): readonly GeneratedFile[] => [
  { path: 'docs/commands.md', content: commandsPage(commands) },
  { path: 'docs/dictionary.html', content: dictionaryPage() },
  { path: 'docs/endpoints.md', content: endpointsPage() },
  { path: 'docs/entities.md', content: entitiesPage() },
  { path: 'docs/errors.md', content: errorsPage() },
  { path: 'docs/schema.dbml', content: schemaDbml() },
  { path: 'docs/tables.md', content: tablesPage() },
  { path: 'configs/sync.schema.json', content: schemaText },
];
