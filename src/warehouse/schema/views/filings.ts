/** Views of company filings. */
import { columnFrom, bigint, boolean, integer, columnsOf, text, view, since, personal } from './view.ts';

const listed = (what: string, by = 'semicolons') => text(`${what}, in the order sent, separated by ${by}.`);

export const filingViews = [
  view(
    'sec_filing_overview',
    'Documents of company filings with their filers, places, codes and items: one row per document.',
    ['accession_number', 'file_name'],
    {
      ...columnsOf('sec_filings', 'accession_number', 'file_name', 'document_url', 'filing_type'),
      is_amendment: boolean('Whether the form amends an earlier filing: its type ends in /A.'),
      ...columnsOf('sec_filings', 'file_date', 'period_ending'),
      days_to_file: integer(
        'Days from the end of the reported period to the filing; negative if the filing came first; null if either date is unknown.',
      ),
      file_description: columnFrom('sec_filings', 'file_description'),
      filer_count: bigint('Number of filers in the document.'),
      filers: personal(listed('Names of the filers')),
      ciks: listed('Central index keys of the filers', 'commas'),
      first_filer: personal(text('Name of the first filer; null if there is none.')),
      first_cik: text('Central index key of the first filer; null if there is none.'),
      biz_locations: personal(listed('Business locations of the filers')),
      biz_states: listed('States of business', 'commas'),
      inc_states: listed('States of incorporation', 'commas'),
      sics: listed('Standard industrial classification codes', 'commas'),
      items: listed('Items that the filing reports on', 'commas'),
      ...since,
    },
    `
    select
      f.accession_number,
      f.file_name,
      f.document_url,
      f.filing_type,
      f.filing_type like '%/A' as "is_amendment",
      f.file_date,
      f.period_ending,
      f.file_date - f.period_ending as "days_to_file",
      f.file_description,
      greatest(f.ciks_count, f.display_names_count) as "filer_count",
      (select string_agg(l.display_name, '; ' order by l.position) from "sec_filing_display_names" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.display_name <> '') as "filers",
      (select string_agg(l.cik, ', ' order by l.position) from "sec_filing_ciks" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.cik <> '') as "ciks",
      (select l.display_name from "sec_filing_display_names" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.position = 0) as "first_filer",
      (select l.cik from "sec_filing_ciks" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.position = 0) as "first_cik",
      (select string_agg(l.biz_location, '; ' order by l.position) from "sec_filing_biz_locations" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.biz_location <> '') as "biz_locations",
      (select string_agg(l.biz_state, ', ' order by l.position) from "sec_filing_biz_states" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.biz_state <> '') as "biz_states",
      (select string_agg(l.inc_state, ', ' order by l.position) from "sec_filing_inc_states" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.inc_state <> '') as "inc_states",
      (select string_agg(l.sic, ', ' order by l.position) from "sec_filing_sics" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.sic <> '') as "sics",
      (select string_agg(l.item, ', ' order by l.position) from "sec_filing_items" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name and l.item <> '') as "items",
      f._first_seen_at as "first_seen_at",
      f._changed_at as "changed_at"
    from "sec_filings" f`,
  ),
  view(
    'sec_filing_filers',
    'Filers of documents: one row per document and filer.',
    ['accession_number', 'file_name', 'position'],
    {
      ...columnsOf('sec_filings', 'accession_number', 'file_name'),
      position: bigint('Index of the filer in the document’s list, from 0.'),
      cik: text('Central index key of the filer.'),
      display_name: personal(text('Name of the filer.')),
      ...columnsOf('sec_filings', 'filing_type', 'file_date', 'period_ending', 'document_url'),
    },
    `
    select
      f.accession_number,
      f.file_name,
      l.position,
      c.cik,
      n.display_name,
      f.filing_type,
      f.file_date,
      f.period_ending,
      f.document_url
    from "sec_filings" f
    cross join lateral (
      select generate_series(0, greatest(f.ciks_count, f.display_names_count) - 1) as "position"
    ) l
    left join "sec_filing_ciks" c
      on c.filing_accession_number = f.accession_number and c.filing_file_name = f.file_name and c.position = l.position
    left join "sec_filing_display_names" n
      on n.filing_accession_number = f.accession_number and n.filing_file_name = f.file_name and n.position = l.position`,
  ),
];
