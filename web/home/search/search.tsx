import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { now } from '../../core/clock.ts'
import { go } from '../../core/router.ts'
import { pathOf } from '../../core/routes.ts'
import { live } from '../../model/account/account.ts'
import { home } from '../../model/home.ts'
import { hasDaemon, nameOfMachine } from '../../model/machines.ts'
import { type Hit, hasWords, wordsOf } from '../../model/search-text.ts'
import { lastMovedAt, titleOf } from '../../model/sessions.ts'
import type { SessionView } from '../../model/store.ts'
import { SessionRow } from '../../session/row/row.tsx'
import { Bar } from '../../ui/bar.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { words as appWords } from '../../words/index.ts'
import { lists as words } from '../../words/lists.ts'
import { clockTime } from '../../words/time.ts'
import { Excerpt } from './excerpt.tsx'
import { reading, searchMessages, startIndexing, version } from './search-index.ts'
import { MachineHits, useMachineSearch } from './search-machines.tsx'

/** Titles immediately, then messages indexed on this device; older conversations on the machines on request. `session`: only in it. */
export function SearchScreen({ asked, session }: { asked: string; session: string | undefined }) {
  const [query, setQuery] = useState(asked)
  const link = live.value
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  useEffect(() => {
    if (link) startIndexing(link)
  }, [link])
  const ask = (text: string) => {
    setQuery(text)
    go({ name: 'search', ...(text !== '' && { q: text }), ...(session !== undefined && { in: session }) }, 'replace')
  }
  const only = session === undefined ? undefined : home.value.sessions.get(session)
  return (
    <div class="screen">
      <Bar
        title={words.search}
        back={pathOf(session === undefined ? { name: 'home' } : { name: 'session', id: session, view: [] })}
        keepBack={session !== undefined}
      />
      <div class="scroll">
        <div class="col search">
          <label class="search-in">
            <Icon name="search" />
            <span class="vh">{words.searchFor}</span>
            <input
              ref={input}
              type="search"
              value={query}
              placeholder={words.searchFor}
              autocomplete="off"
              spellcheck={false}
              onInput={event => ask(event.currentTarget.value)}
            />
          </label>
          {session !== undefined && (
            <p class="search-only">
              <span dir="auto">
                {words.here}: {only && titleOf(only)}
              </span>
              <a class="txt" href={pathOf({ name: 'search', ...(query !== '' && { q: query }) })}>
                {words.everywhere}
              </a>
            </p>
          )}
          {query.trim() === '' ? <p class="lead">{words.searchHint}</p> : <Found key={session} query={query} session={session} />}
          {reading.value && (
            <p class="note" role="status">
              {words.reading(reading.value.done + 1, reading.value.all)}
            </p>
          )}
        </div>
      </div>
    </div>
  )
}

function Found({ query, session }: { query: string; session: string | undefined }) {
  const sought = useMemo(() => wordsOf(query), [query])
  const titles = useMemo(
    () => (session === undefined ? titlesWith(home.value.sessions.values(), sought) : []),
    [home.value.sessions, sought]
  )
  const hits = useMemo(() => searchMessages(query, session), [query, session, version.value])
  const machines = [...home.value.machines.values()].filter(hasDaemon)
  const search = useMachineSearch(query)
  const isNothing = titles.length + hits.length === 0
  const canLook = session === undefined && machines.length > 0 && search.found.length === 0
  const look = canLook && (
    <Button look="quiet" icon="monitor" onClick={() => void search.look(machines)} busy={search.isBusy && words.looking}>
      {words.lookOn(machines.length, machines[0] ? nameOfMachine(machines[0]) : '')}
    </Button>
  )
  return (
    <>
      {titles.length > 0 && (
        <section>
          <div class="sec">
            <h2>{words.searchTitles}</h2>
            <span class="count">{titles.length}</span>
          </div>
          <ul class="rows">
            {titles.slice(0, mostTitles).map(found => (
              <li key={found.id}>
                <SessionRow session={found} isCurrent={false} isStale={false} at={now.value} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {hits.length > 0 && (
        <section>
          <div class="sec">
            <h2>{words.searchMessages}</h2>
            <span class="count">{hits.length}</span>
          </div>
          <ul class="hits">
            {hits.map(hit => (
              <li key={`${hit.session} ${hit.seq} ${hit.text.length}`}>
                <HitLink hit={hit} sought={sought} hasTitle={session === undefined} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {isNothing && !reading.value && search.found.length === 0 && (
        <Empty title={words.searchNothing(query.trim())} text={canLook ? words.searchNothingText : words.searchNothingPlain}>
          {look}
        </Empty>
      )}
      {!isNothing && look && <div class="acts">{look}</div>}
      <MachineHits found={search.found} sought={sought} />
    </>
  )
}

function HitLink({ hit, sought, hasTitle }: { hit: Hit; sought: readonly string[]; hasTitle: boolean }) {
  const session = home.value.sessions.get(hit.session)
  return (
    <a class="hit" href={pathOf({ name: 'session', id: hit.session, view: ['m', String(hit.seq)] })}>
      {hasTitle && <b dir="auto">{(session && titleOf(session)) ?? appWords.session.untitled}</b>}
      <Excerpt text={hit.text} sought={sought} />
      <small>
        {hit.by === 'me' && `${words.you}, `}
        {clockTime(hit.at, now.value)}
      </small>
    </a>
  )
}

function titlesWith(sessions: Iterable<SessionView>, sought: readonly string[]): SessionView[] {
  const found = [...sessions].filter(session => hasWords(`${titleOf(session) ?? ''} ${session.metadata?.path ?? ''}`, sought))
  return found.sort((a, b) => lastMovedAt(b) - lastMovedAt(a))
}

const mostTitles = 20
