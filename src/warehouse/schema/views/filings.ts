/** Views of company filings. */
import { columnFrom, bigint, boolean, integer, since, columnsOf, text, view } from './view.ts';

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
      filers: listed('Names of the filers'),
      ciks: listed('Central index keys of the filers', 'commas'),
      first_filer: text('Name of the first filer; null if there is none.'),
      first_cik: text('Central index key of the first filer; null if there is none.'),
      biz_locations: listed('Business locations of the filers'),
      biz_states: listed('States of business', 'commas'),
      inc_states: listed('States of incorporation', 'commas'),
      sics: listed('Standard industrial classification codes', 'commas'),
      items: listed('Items that the filing reports on', 'commas'),
      ...since,
    },
  ),
  view(
    'sec_filing_filers',
    'Filers of documents: one row per document and filer.',
    ['accession_number', 'file_name', 'position'],
    {
      ...columnsOf('sec_filings', 'accession_number', 'file_name'),
      position: bigint('Index of the filer in the document’s list, from 0.'),
      cik: text('Central index key of the filer.'),
      display_name: text('Name of the filer.'),
      ...columnsOf('sec_filings', 'filing_type', 'file_date', 'period_ending', 'document_url'),
    },
  ),
];
