/** What tests of the sandbox read from its answers; the contract test checks that this is what they hold. */
import type { Urn } from '../../src/service/names/urn.ts';

/** An item of which nothing is known beforehand. */
export type Item = Readonly<Record<string, unknown>>;

export interface Filing extends Item {
  readonly accession_number: string;
  readonly file_name: string;
  readonly filing_type: string;
  readonly file_date: string;
  readonly period_ending: string | null;
  readonly ciks: readonly string[];
  readonly display_names: readonly string[];
  readonly biz_locations: readonly string[];
  readonly biz_states: readonly string[];
  readonly inc_states: readonly string[] | null;
  readonly sics: readonly string[] | null;
  readonly items: readonly string[] | null;
}

export interface Person extends Item {
  readonly urn: Urn;
  readonly name: string;
  readonly alias: string;
  readonly headline: string | null;
  readonly location: string | null;
}

export interface Education extends Item {
  readonly company: { readonly name: string };
}

export interface Group extends Item {
  readonly member_count: number;
  readonly members: readonly { readonly role: string; readonly user: Person }[];
}

export interface Post extends Item {
  readonly urn: Urn;
  readonly author: Item & { readonly urn: Urn; readonly name: string };
  readonly created_at: number;
  readonly repost: Post;
}

export interface Profile extends Item {
  readonly id: string;
  readonly alias: string;
  readonly url: string;
  readonly media_count: number;
  readonly posts: readonly Item[];
}

export interface PhotoPost extends Item {
  readonly created_at: number | null;
}

export interface ParsedPage extends Item {
  readonly url: string;
  readonly cleaned_html: string;
  readonly links: readonly string[];
  readonly emails: readonly string[] | null;
  readonly phones: readonly string[] | null;
}

export interface LogRow extends Item {
  readonly id: string;
  readonly started_at: string;
}
