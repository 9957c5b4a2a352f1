import pg from 'pg';

/** Makes an empty database on a server. @returns its URL. */
export async function createDatabase(server: string, prefix: string): Promise<string> {
  const name = `${prefix}_${process.pid}_${Date.now()}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
