/** The tables and views that statements name. */
import { expect, it } from 'vitest';
import { relationsIn } from '../../src/warehouse/sql/relations.ts';

const NAMES = { relations: new Set(['users', 'posts', 'runs', 'User hits']), columns: new Set(['name', 'runs']) };

it.each([
  ['select name from users', ['users']],
  ['select u.name from sluice.users u join Posts p using (name)', ['users', 'posts']],
  ['select 1 from users, posts where true', ['users', 'posts']],
  ['table users', ['users']],
  ['with u as (select * from "sluice"."users") select * from u', ['users']],
  ['select * from "User hits"', ['User hits']],
  ['select * from "Users"', []],
  ["select 'from posts' from users -- join posts\n/* posts */ where name = 'it''s posts'", ['users']],
  ['select runs from users', ['users']],
  ['select s.runs, runs from users s', ['users']],
  ['select name from sluice_ops.runs', ['runs']],
  ['select 1 from users where exists (select from only runs)', ['users', 'runs']],
  ["select 'an open string from posts", []],
  ['select 1 /* an open comment from posts', []],
])('%j reads %j', (statement, expected) => {
  expect(relationsIn(statement, NAMES)).toEqual(expected);
});
