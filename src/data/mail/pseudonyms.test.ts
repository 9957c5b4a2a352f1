import { describe, expect, it } from 'vitest';
import { Pseudonyms } from './pseudonyms.ts';

describe('Pseudonyms', () => {
  it('numbers authors in order of first appearance and knows them again by address or full name', () => {
    const pseudonyms = new Pseudonyms();
    expect(pseudonyms.registerAuthor('Ana Pérez', 'ana@x.example')).toBe('person-001');
    expect(pseudonyms.registerAuthor('Bea', 'bea@x.example')).toBe('person-002');
    expect(pseudonyms.registerAuthor('A. P.', 'ana@x.example')).toBe('person-001');
    expect(pseudonyms.registerAuthor('ana pérez', 'ana@home.example')).toBe('person-001');
    expect(pseudonyms.registerAuthor('', 'ana@home.example')).toBe('person-001');
    expect(pseudonyms.registerAuthor('Bea', 'bea@y.example')).toBe('person-003');
    expect(pseudonyms.count).toBe(3);
  });

  it('knows an author without an address by full name alone, and one without either never again', () => {
    const pseudonyms = new Pseudonyms();
    const labelName = (name: string) => pseudonyms.registerAuthor(name, '');
    expect(['Ana Pérez', 'Bea Cruz', 'ana pérez', '', '', 'Bea'].map(labelName)).toEqual([
      'person-001',
      'person-002',
      'person-001',
      'person-003',
      'person-004',
      'person-005',
    ]);
    expect(pseudonyms.registerAuthor('Bea Cruz', 'bea@x.example')).toBe('person-002');
    expect(pseudonyms.count).toBe(5);
  });

  it('hides full names and addresses of authors in texts', () => {
    const pseudonyms = new Pseudonyms();
    pseudonyms.registerAuthor('Ana Pérez', 'ana@x.example');
    pseudonyms.registerAuthor('Bea Cruz', 'bea@x.example');
    expect(pseudonyms.hide('Thanks, ANA\n  PÉREZ <Ana@X.example>, says Bea-Cruz.')).toBe(
      'Thanks, person-001 <person-001>, says person-002.',
    );
  });

  it('takes the longest name and leaves parts of names and words alone', () => {
    const pseudonyms = new Pseudonyms();
    pseudonyms.registerAuthor('Ana Luz', 'a@x.example');
    pseudonyms.registerAuthor('Ana Luz Cruz', 'b@x.example');
    expect(pseudonyms.hide('Ana Luz Cruz, Ana Luz, Ana, Juana Luz, Ana Luzon')).toBe(
      'person-002, person-001, Ana, Juana Luz, Ana Luzon',
    );
  });

  it('gives any other address a label of its own, the same each time', () => {
    const pseudonyms = new Pseudonyms();
    expect(
      pseudonyms.hide(
        'c@x.example. <mailto:d.e+f@x.example> C@x.example root@host <20020822.1@mail.example> g\\@x.example',
      ),
    ).toBe('address-0001 <mailto:address-0002> address-0001 address-0003 <address-0004> address-0005');
  });

  it('leaves at signs alone that join nothing', () => {
    const text = 'my ($x) = (@_); at 5 @ noon @@ -1,3 +1,3 @@';
    expect(new Pseudonyms().hide(text)).toBe(text);
  });
});
