import { describe, expect, it } from 'vitest';
import { readMailingList } from './mailing-list.ts';

const buildHeaders = (fields: Record<string, string>) =>
  Object.entries(fields).map(([key, value]) => ({ key, originalKey: key, value }));

describe('readMailingList', () => {
  it.each([
    [{ 'list-id': 'Talk <of> cooks <cooks.example.org>' }, 'cooks.example.org'],
    [{ 'list-id': '<Cooks.Example.org>' }, 'cooks.example.org'],
    [{ 'x-beenthere': 'cooks@example.org' }, 'cooks.example.org'],
    [{ 'mailing-list': 'list cooks@groups.example; contact cooks-owner@groups.example' }, 'cooks.groups.example'],
    [{ 'mailing-list': 'contact cooks-help@example.org; run by ezmlm' }, 'cooks.example.org'],
    [{ 'delivered-to': 'mailing list cooks@example.org' }, 'cooks.example.org'],
    [{ 'list-post': '<mailto:cooks@example.org>' }, 'cooks.example.org'],
    [{ sender: 'owner-cooks@example.org' }, 'cooks.example.org'],
    [{ sender: 'Talk <cooks-admin@example.org>' }, 'cooks.example.org'],
    [{ 'delivered-to': 'ana@example.org', sender: 'ana@example.org' }, null],
  ])('%j', (fields, list) => {
    expect(readMailingList(buildHeaders(fields as Record<string, string>))).toBe(list);
  });

  it('prefers the header that names the list outright', () => {
    expect(readMailingList(buildHeaders({ sender: 'owner-a@x.example', 'list-id': '<b.x.example>' }))).toBe(
      'b.x.example',
    );
  });
});
