/** Letters of Cyrillic and Greek, and marks, that look like characters of ASCII: each, and that character. Source: Unicode TR39, confusables.txt. */
const LOOKALIKES = new Map(
  [
    'аaсcԁdеeһhіiјjӏlоoрpԛqѕsԝwхxуyѵv', // Cyrillic
    'АAВBСCЕEНHІIЈJКKМMОOРPЅSТTХXҮYԌG',
    'αaοoρpνvυuιiγyσo', // Greek
    'ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX',
    'ɑaɡgıi‐-‑-–-—-−-ǃ!ː:‚,⁄/∕/',
  ].flatMap((pairs) => {
    const letters = [...pairs];
    return letters.flatMap((letter, i) => (i % 2 === 0 ? [[letter, letters[i + 1] as string] as const] : []));
  }),
);

/**
 * What an id looks like: compatibility forms and composed letters as one, invisible characters and blanks at its ends left out, and letters of other scripts as
 * those of ASCII. Two ids with one look are twins.
 */
export function foldId(id: string): string {
  const plain = id
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim();
  return Array.from(plain, (letter) => LOOKALIKES.get(letter) ?? letter).join('');
}

/** An id with everything but visible ASCII as escapes, so that a message tells twins apart. */
export function escapeId(id: string): string {
  return id.replaceAll(/[^!-~]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}
