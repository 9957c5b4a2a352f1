/** A text as lines of at most `width` letters, broken between words, and within a word that is longer. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => cutIntoPieces(whole, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

function cutIntoPieces(word: string, width: number): string[] {
  const count = Math.max(1, Math.ceil(word.length / width));
  return Array.from({ length: count }, (_, at) => word.slice(at * width, (at + 1) * width));
}
