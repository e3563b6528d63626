/** Company names: well-known ones by ticker, and the parts of generated ones. */

export interface ListedCompany {
  readonly ticker: string;
  readonly name: string;
  readonly cik: string;
  readonly sic: string;
  readonly state: string;
  readonly city: string;
  readonly incorporatedIn: string;
}

type ListedRow = readonly [
  ticker: string,
  name: string,
  cik: number,
  sic: string,
  state: string,
  city: string,
  incorporatedIn: string,
];

const LISTED_ROWS: readonly ListedRow[] = [
  ['AAPL', 'Apple Inc.', 320193, '3571', 'CA', 'Cupertino', 'CA'],
  ['MSFT', 'Microsoft Corp', 789019, '7372', 'WA', 'Redmond', 'WA'],
  ['AMZN', 'Amazon Com Inc', 1018724, '5961', 'WA', 'Seattle', 'DE'],
  ['GOOGL', 'Alphabet Inc.', 1652044, '7370', 'CA', 'Mountain View', 'DE'],
  ['NVDA', 'NVIDIA Corp', 1045810, '3674', 'CA', 'Santa Clara', 'DE'],
  ['TSLA', 'Tesla, Inc.', 1318605, '3711', 'TX', 'Austin', 'TX'],
  ['JPM', 'JPMorgan Chase & Co', 19617, '6021', 'NY', 'New York', 'DE'],
  ['JNJ', 'Johnson & Johnson', 200406, '2834', 'NJ', 'New Brunswick', 'NJ'],
  ['V', 'Visa Inc.', 1403161, '7389', 'CA', 'San Francisco', 'DE'],
  ['WMT', 'Walmart Inc.', 104169, '5331', 'AR', 'Bentonville', 'DE'],
  ['XOM', 'Exxon Mobil Corp', 34088, '2911', 'TX', 'Spring', 'NJ'],
  ['KO', 'Coca Cola Co', 21344, '2080', 'GA', 'Atlanta', 'DE'],
  ['DIS', 'Walt Disney Co', 1744489, '7990', 'CA', 'Burbank', 'DE'],
  ['INTC', 'Intel Corp', 50863, '3674', 'CA', 'Santa Clara', 'DE'],
  ['ABT', 'Abbott Laboratories', 1800, '2834', 'IL', 'Abbott Park', 'IL'],
  ['F', 'Ford Motor Co', 37996, '3711', 'MI', 'Dearborn', 'DE'],
];

export const LISTED: readonly ListedCompany[] = LISTED_ROWS.map(
  ([ticker, name, cik, sic, state, city, incorporatedIn]) => ({
    ticker,
    name,
    cik: String(cik).padStart(10, '0'),
    sic,
    state,
    city,
    incorporatedIn,
  }),
);

export const FIRST_PARTS: readonly string[] =
  `Acme Alder Amber Aurora Beacon Birch Blue Bright Cedar Cinder Clear Cobalt Copper Coral Crescent Delta Dawn East Ember
  Evergreen Falcon First Forge Garnet Golden Granite Harbor Hawthorn High Indigo Iron Ivory Juniper Keystone Lakeside Lark Lumen
  Maple Meridian Mill Moss North Oak Onyx Orchid Pacific Pine Pioneer Quartz Quiet Red River Rowan Sable Silver Solar Spruce
  Sterling Summit Swift Tall Timber Union Vale Verdant Vista West Willow Zephyr`.split(/\s+/);

export const SECOND_PARTS: readonly string[] =
  `Analytics Aviation Bank Biotech Capital Chemicals Cloud Components Data Devices Dynamics Energy Foods Freight Games Health
  Holdings Homes Insurance Instruments Labs Logistics Materials Media Medical Metals Mining Mobility Motors Networks Optics
  Paper Partners Pharma Power Properties Rail Research Resources Robotics Semiconductors Software Steel Systems Textiles
  Therapeutics Tools Utilities Ventures Water`.split(/\s+/);

export const LEGAL_FORMS: readonly string[] = ['Inc.', 'Corp', 'Ltd', 'Group'];

/** Industry codes of filers; some begin with a zero. */
export const SICS: readonly string[] =
  '0100 0200 0700 0900 1000 1311 1531 2000 2300 2621 2834 2860 3312 3571 3674 3711 3841 4011 4213 4512 4813 4911 5045 5331 5411 5812 6021 6199 6311 6500 6770 7310 7370 7372 7990 8000 8071 8200 8742'.split(
    ' ',
  );

export const INCORPORATED_IN: readonly string[] = ['DE', 'DE', 'DE', 'NV', 'NY', 'MD', 'TX', 'CA'];

export const EMPLOYEE_RANGES: readonly string[] = [
  '2-10',
  '11-50',
  '51-200',
  '201-500',
  '501-1000',
  '1001-5000',
  '5001-10000',
  '10001+',
];
