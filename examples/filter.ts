// A filter of turns: as a predicate, and as a condition of Postgres with its parameters.
import { bindFilter, compileFilterSql, parseFilter } from 'rag-plusplus/data';

const filter = parseFilter("channel = $query.channel and (outcome >= 0.5 or kind in ['fact', 'rule'])");
const accepts = bindFilter(filter, { channel: 'support' });
console.log(accepts({ channel: 'support', attributes: { outcome: 1 } }), accepts({ channel: 'support' }));

const { sql, parameters } = compileFilterSql(filter, undefined, { variables: { channel: 'support' } });
console.log(sql);
console.log(parameters.join(', '));
