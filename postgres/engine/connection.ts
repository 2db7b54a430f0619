import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Queries } from './deps.ts'
import { ConnectionLost } from './failure.ts'
import { storedText, textToStore } from './text.ts'

/** A server that does not answer for so long is given up: its clients would have stopped waiting. */
const mostPatienceMs = 30_000
const connectPatienceMs = 5_000

const int8 = 20
const text = 25

/** A connection to the database, on which statements may be queued without waiting for each other. */
export class Connection implements Queries {
  readonly #client: pg.Client
  readonly #isOurs: boolean
  #lostBy: Error | undefined

  private constructor(client: pg.Client, isOurs: boolean) {
    this.#client = client
    this.#isOurs = isOurs
    client.on('error', error => {
      this.#lostBy ??= error
    })
    client.on('end', () => {
      this.#lostBy ??= new Error('The connection was closed')
    })
  }

  /**
   * Rejects with the driver's error if there is no connection to be had. `patienceMs` is for one statement; 0 for any time.
   * `texts`: whether texts are stored as in our databases, or as they are.
   */
  static async open(url: string, patienceMs: number = mostPatienceMs, texts: 'ours' | 'plain' = 'ours'): Promise<Connection> {
    const client = new pg.Client({
      connectionString: url,
      fallback_application_name: 'afield',
      connectionTimeoutMillis: connectPatienceMs,
      query_timeout: patienceMs,
      keepAlive: true,
      pipeline: true,
      types: { getTypeParser: texts === 'ours' ? parserOf : plainParserOf }
    })
    const connection = new Connection(client, texts === 'ours')
    await client.connect()
    return connection
  }

  get isLost(): boolean {
    return this.#lostBy !== undefined
  }

  async all<Row>(sql: string, values: readonly unknown[]): Promise<Row[]> {
    return (await this.#query({ name: nameOf(sql), text: sql, values: this.#isOurs ? values.map(asParameter) : [...values] })).rows
  }

  async get<Row>(sql: string, values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, values))[0]
  }

  async run(sql: string, values: readonly unknown[]): Promise<number> {
    return (await this.#query({ name: nameOf(sql), text: sql, values: this.#isOurs ? values.map(asParameter) : [...values] })).rowCount ?? 0
  }

  /** One or more statements without values, such as BEGIN; resolves to the tag of the last, such as COMMIT. */
  async command(sql: string): Promise<string> {
    const results = await this.#query({ text: sql })
    const last = Array.isArray(results) ? results.at(-1) : results
    return last.command
  }

  /** What was queued before is answered first. */
  async close(): Promise<void> {
    await this.#client.end()
  }

  /** Without waiting for anything. */
  drop(): void {
    this.#lostBy ??= new Error('The connection was dropped')
    this.#client.end().catch(() => {})
  }

  async #query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await this.#client.query(query)
    } catch (error) {
      if (error instanceof Error && 'severity' in error) throw error
      // Everything that is no answer of the database, a statement that got none in time among them.
      this.#lostBy ??= error instanceof Error ? error : new Error(String(error))
      throw new ConnectionLost('The connection to the database was lost.', { cause: error })
    }
  }
}

const names = new Map<string, string>()

/** A statement of this name is planned once for each connection. */
function nameOf(sql: string): string {
  const known = names.get(sql)
  if (known !== undefined) return known
  const name = createHash('sha256').update(sql).digest('base64url').slice(0, 22)
  names.set(sql, name)
  return name
}

function asParameter(value: unknown): unknown {
  if (typeof value === 'string') return textToStore(value)
  return Array.isArray(value) ? value.map(asParameter) : value
}

function parserOf(oid: number, format?: 'text' | 'binary') {
  return oid === text && format !== 'binary' ? storedText : plainParserOf(oid, format)
}

function plainParserOf(oid: number, format?: 'text' | 'binary') {
  // Keys, counters and times are all below 2^53.
  return oid === int8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format)
}
