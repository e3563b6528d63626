/** Documents of public company filings. */
import { day, required, text, texts, personal } from '../field.ts';
import { resource } from '../resource.ts';

export const secFiling = resource({
  name: 'SecFiling',
  tag: '@sec_filing',
  table: 'sec_filings',
  noun: 'filing',
  topic: 'Company filings',
  about: 'Documents of public company filings; one filing has one accession number and several documents.',
  key: ['accession_number', 'file_name'],
  filters: ['file_date', 'period_ending'],
  fields: {
    accession_number: required(text('Number of the filing; shared by all its documents.')),
    file_name: required(text('File name of the document within the filing.')),
    document_url: required(text('Address of the document.')),
    filing_type: text('Form type, such as 10-K.'),
    file_date: day('Day of the filing.'),
    period_ending: day('Last day of the reported period.'),
    ciks: texts(
      'Central index keys of the filers, in the order of display_names but not of the other lists.',
      'cik',
      true,
    ),
    display_names: personal(texts('Names of the filers, in the order of ciks.', 'display_name')),
    file_description: text('Description of the document.'),
    biz_locations: personal(texts('Business locations of the filers.', 'biz_location')),
    biz_states: texts('States of business.', 'biz_state'),
    inc_states: texts('States of incorporation.', 'inc_state'),
    sics: texts('Standard industrial classification codes.', 'sic'),
    items: texts('Items that the filing reports on, such as 2.02.', 'item'),
  },
});
