/** Views of company filings. */
import { bigint, boolean, columnFrom, columnsFrom, integer, personal, selection, since, text } from './view.ts';

/** SQL for the list of a filing with these elements. */
const elements = (element: string): string => `from "sec_filing_${element}s" l
        where l.filing_accession_number = f.accession_number and l.filing_file_name = f.file_name`;

const listed = (what: string, element: string, [by, separator]: readonly [string, string] = ['semicolons', '; ']) =>
  text(
    `${what}, in the order sent, separated by ${by}.`,
    `(select string_agg(l.${element}, '${separator}' order by l.position) ${elements(element)} and l.${element} <> '')`,
  );
const COMMAS = ['commas', ', '] as const;

const first = (what: string, element: string) =>
  text(
    `${what} of the first filer; null if there is none.`,
    `(select l.${element} ${elements(element)} and l.position = 0)`,
  );

export const filingViews = [
  selection(
    'sec_filing_overview',
    'Documents of company filings with their filers, places, codes and items: one row per document.',
    ['accession_number', 'file_name'],
    {
      ...columnsFrom('f', 'sec_filings', 'accession_number', 'file_name', 'document_url', 'filing_type'),
      is_amendment: boolean(
        'Whether the form amends an earlier filing: its type ends in /A.',
        `f.filing_type like '%/A'`,
      ),
      ...columnsFrom('f', 'sec_filings', 'file_date', 'period_ending'),
      days_to_file: integer(
        'Days from the end of the reported period to the filing; negative if the filing came first; null if either date is unknown.',
        'f.file_date - f.period_ending',
      ),
      file_description: columnFrom('sec_filings', 'file_description', 'f.file_description'),
      filer_count: bigint('Number of filers in the document.', 'greatest(f.ciks_count, f.display_names_count)'),
      filers: personal(listed('Names of the filers', 'display_name')),
      ciks: listed('Central index keys of the filers', 'cik', COMMAS),
      first_filer: personal(first('Name', 'display_name')),
      first_cik: first('Central index key', 'cik'),
      biz_locations: personal(listed('Business locations of the filers', 'biz_location')),
      biz_states: listed('States of business', 'biz_state', COMMAS),
      inc_states: listed('States of incorporation', 'inc_state', COMMAS),
      sics: listed('Standard industrial classification codes', 'sic', COMMAS),
      items: listed('Items that the filing reports on', 'item', COMMAS),
      ...since('f'),
    },
    `
    from "sec_filings" f`,
  ),
  selection(
    'sec_filing_filers',
    'Filers of documents: one row per document and filer.',
    ['accession_number', 'file_name', 'position'],
    {
      ...columnsFrom('f', 'sec_filings', 'accession_number', 'file_name'),
      position: bigint('Index of the filer in the document’s list, from 0.', 'l.position'),
      cik: text('Central index key of the filer.', 'c.cik'),
      display_name: personal(text('Name of the filer.', 'n.display_name')),
      ...columnsFrom('f', 'sec_filings', 'filing_type', 'file_date', 'period_ending', 'document_url'),
    },
    `
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
