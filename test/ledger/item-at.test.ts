/** The part of a stored answer at a pointer, as the service sent it. */
import { expect, it } from 'vitest';
import { itemAt } from '../../src/ledger/inspect/item-at.ts';

const at = (text: string, pointer: string): string => JSON.stringify(itemAt(new TextEncoder().encode(text), pointer));

it('an item prints with the digits and the types that the service sent', () => {
  const item = '{"big":9007199254740993,"huge":1e400,"code":1.10,"text":"9007199254740993"}';
  expect(at(`[{}, ${item}]`, '/1')).toBe(item);
  expect(at(`[{}, ${item}]`, '/1/big')).toBe('9007199254740993');
  expect(at(`[${item}]`, '/7')).toBe('null');
  expect(at('<html>', '/0')).toBe('null');
});

it('an item has the keys that the service sent, also after another answer with an escaped key', () => {
  const text = String.raw`{"h":1,"\"":2}`;
  at(String.raw`{"h":[],"\\":0}`, '');
  expect(at(text, '')).toBe(text);
});
