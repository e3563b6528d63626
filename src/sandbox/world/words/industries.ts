/**
 * The professional network's taxonomy of industries: the twelve that the contract names, each with subordinate ones.
 */
import { TOP_LEVEL_INDUSTRIES } from '../../../service/request.ts';

export interface IndustryName {
  readonly name: string;
  readonly hierarchy: string;
  /** The name at the top of the hierarchy. */
  readonly top: string;
  /** The number in its URN. */
  readonly number: string;
}

const UNDER: Readonly<Record<string, readonly string[]>> = {
  'Technology, Information and Media': [
    'Software Development',
    'Data Infrastructure and Analytics',
    'Online Media',
    'Telecommunications',
  ],
  'Professional Services': ['Business Consulting', 'Accounting', 'Legal Services', 'Advertising Services'],
  Manufacturing: ['Motor Vehicles', 'Computer Hardware', 'Food and Beverages', 'Medical Equipment'],
  'Hospitals and Health Care': ['Hospitals', 'Mental Health Care', 'Medical Practices'],
  Retail: ['Groceries', 'Apparel and Fashion', 'Electronics Stores'],
  'Government Administration': ['Public Safety', 'Housing Programs', 'Economic Programs'],
  'Holding Companies': ['Family Holdings', 'Bank Holdings'],
  'Oil, Gas, and Mining': ['Oil Extraction', 'Natural Gas', 'Metal Mining'],
  'Real Estate and Equipment Rental Services': ['Real Estate', 'Equipment Rental'],
  'Transportation, Logistics, Supply Chain and Storage': ['Airlines', 'Freight', 'Warehousing', 'Rail'],
  Utilities: ['Electric Power', 'Water Supply', 'Waste Collection'],
  Wholesale: ['Wholesale Food', 'Wholesale Machinery', 'Wholesale Chemicals'],
};

const top = (name: string, at: number): IndustryName => ({ name, hierarchy: name, top: name, number: String(at) });

/** All industries of companies. The first twelve are the top-level ones, in the contract's order. */
export const INDUSTRIES: readonly IndustryName[] = [
  ...TOP_LEVEL_INDUSTRIES.map((name, at) => top(name, 1 + at)),
  ...TOP_LEVEL_INDUSTRIES.flatMap((parent, at) =>
    (UNDER[parent] ?? []).map((name, below) => ({
      name,
      hierarchy: `${parent} > ${name}`,
      top: parent,
      number: String(100 * (1 + at) + below),
    })),
  ),
];

/** The industry of schools. */
export const HIGHER_EDUCATION: IndustryName = {
  name: 'Higher Education',
  hierarchy: 'Education > Higher Education',
  top: 'Education',
  number: '1999',
};
