/** What a page of the console gets and returns. */
import type { SyncDefinition } from '../config/definition.ts';
import type { Planned } from '../flow/forecast/quote-syncs.ts';
import type { Markup } from '../report/markup.ts';
import type { ReportSource } from '../report/reading/rows.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';

/** A page without its frame. */
export interface Page {
  readonly title: string;
  readonly body: Markup;
}

/** The address of a request, and the warehouse that its page reads. */
export interface ConsoleView extends Pick<ReportSource, 'db' | 'schema' | 'redact'> {
  /** Its `db` is a read-only transaction, so that the figures of a page agree, except for pages that run statements of users. */
  readonly warehouse: Warehouse;
  /** The part of the path after the name of the page; empty without one. */
  readonly id: string;
  readonly parameters: URLSearchParams;
  /** By the clock of the warehouse. */
  readonly now: Date;
  readonly syncs: readonly SyncDefinition[];
  /** Plans the syncs with these names without requests to the service. */
  readonly plan: (warehouse: Warehouse, names: readonly string[]) => Promise<PlannedText>;
}

/** A plan, and its summary in sentences. */
export interface PlannedText {
  readonly planned: Planned;
  readonly lines: readonly string[];
}

/** A page; undefined if the address names something that does not exist. */
export type PageOf = (view: ConsoleView) => Promise<Page | undefined>;
