/** A collection in the formats of TREC: invented documents with and without titles, some tags and entities. */
export const DOCUMENTS = `<DOC>
<DOCNO> W-1 </DOCNO>
<HEADLINE>Waves in <I>guides</I></HEADLINE>
<TEXT>
<P>The field of a wave guide.</P>
</TEXT>
</DOC>
<DOC><DOCNO>W-2</DOCNO>valves &amp; noise</DOC>
<DOC>
<DOCNO>W-3</DOCNO>
<DOCHDR>
http://nowhere.example 200 <http://elsewhere.example>
</DOCHDR>
<html><title>Noise</title>noise of valves where a < b</html>
</DOC>
<DOC>
<DOCNO>W-4</DOCNO>
</DOC>
`;

export const MORE_DOCUMENTS = '<DOC><DOCNO>W-5</DOCNO>moon</DOC>\n';

export const TOPICS = [
  ['1', 'WAVE GUIDES', 'fields of wave guides'],
  ['2', 'NOISE OF VALVES', 'noise of valves'],
  ['3', 'MOON', 'the moon'],
]
  .map(([id, title, desc]) => `<top>\n<num>${id}</num><title>\n${title}\n</title>\n<desc>${desc}</desc>\n</top>\n`)
  .join('');

/** Topic 3 has no relevant document; a document and a topic are missing. */
export const QRELS = '1 0 W-1 1\n1 0 W-2 0\n2 0 W-2 1\n2 0 W-3 2\n2 0 W-9 1\n3 0 W-1 0\n9 0 W-1 1\n';
