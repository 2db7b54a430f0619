import { useId, useState } from 'preact/hooks'
import type { FilesFound, TextFound } from '../../../../lib/protocol/sealed/calls/search.ts'
import { pathOf } from '../../../core/routes.ts'
import type { SessionFacts } from '../../../model/session/facts.ts'
import { useAnswer } from '../../../ui/behavior/answer.ts'
import { Icon } from '../../../ui/icons/icon.tsx'
import { work as words } from '../../../words/work.ts'
import { fileName, folderOf } from '../rows.tsx'
import { TroubleNote } from '../states.tsx'
import { type Work, type WorkTrouble, workTroubleOf } from '../work.ts'

interface Asked {
  readonly query: string
  readonly kind: 'names' | 'text'
  readonly isCaseSensitive: boolean
  readonly isRegex: boolean
}

type Found = { type: 'names'; found: FilesFound } | { type: 'text'; found: TextFound } | { type: 'trouble'; trouble: WorkTrouble }

const afterTypingMs = 250

// Returning from an opened result restores the search.
const lastAsked = new Map<string, Asked>()

/** Searches on the machine, by file name or content. */
export function WorkSearch({ work, facts }: { work: Work; facts: SessionFacts }) {
  const [asked, setAsked] = useState<Asked>(
    () => lastAsked.get(work.id) ?? { query: '', kind: 'names', isCaseSensitive: false, isRegex: false }
  )
  const id = useId()
  const change = (changes: Partial<Asked>) => {
    const next = { ...asked, ...changes }
    lastAsked.set(work.id, next)
    setAsked(next)
  }
  const isSearching = asked.query.trim() !== ''
  const ask = isSearching && work.isHere.value && (async () => ({ query: asked.query, found: await search(work, asked) }))
  const { last: answer } = useAnswer(ask, [work, asked], afterTypingMs)
  return (
    <search class="wsearch">
      <div class="wsearch-f">
        <Icon name="search" />
        <label class="vh" for={id}>
          {words.search}
        </label>
        <input
          id={id}
          type="search"
          value={asked.query}
          placeholder={words.search}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          onInput={event => change({ query: event.currentTarget.value })}
        />
      </div>
      {isSearching && (
        <fieldset class="scopes">
          <legend class="vh">{words.searchWhat}</legend>
          {(['names', 'text'] as const).map(kind => (
            <label key={kind} class="sc">
              <input type="radio" name={`${id}-kind`} checked={asked.kind === kind} onChange={() => change({ kind })} />
              <span>{kind === 'names' ? words.searchNames : words.searchText}</span>
            </label>
          ))}
        </fieldset>
      )}
      {isSearching && asked.kind === 'text' && (
        <div class="wsearch-o">
          <label>
            <input
              type="checkbox"
              checked={asked.isCaseSensitive}
              onChange={event => change({ isCaseSensitive: event.currentTarget.checked })}
            />
            {words.matchCase}
          </label>
          <label>
            <input type="checkbox" checked={asked.isRegex} onChange={event => change({ isRegex: event.currentTarget.checked })} />
            {words.asPattern}
          </label>
        </div>
      )}
      {isSearching && (
        <div class="wsearch-r" aria-live="polite">
          {answer === undefined ? (
            <p class="lead" role="status">
              {words.loading(facts.host)}
            </p>
          ) : (
            <Results facts={facts} query={answer.query} found={answer.found} />
          )}
        </div>
      )}
    </search>
  )
}

async function search(work: Work, { query, kind, isCaseSensitive, isRegex }: Asked): Promise<Found> {
  try {
    if (kind === 'names') return { type: 'names', found: await work.calls.findFiles(query.trim()) }
    return { type: 'text', found: await work.calls.searchText({ query, isCaseSensitive, isRegex }) }
  } catch (error) {
    return { type: 'trouble', trouble: workTroubleOf(error) }
  }
}

function Results({ facts, query, found }: { facts: SessionFacts; query: string; found: Found }) {
  const to = (path: string) => pathOf({ name: 'session', id: facts.id, view: ['files', ...path.split('/')] })
  if (found.type === 'trouble') return <TroubleNote title={words.notRead} trouble={found.trouble} host={facts.host} />
  const count = found.type === 'names' ? found.found.paths.length : found.found.files.length
  return (
    <>
      {count === 0 && <p class="lead">{words.nothingFound(query)}</p>}
      <ul class="files">
        {found.type === 'names'
          ? found.found.paths.map(path => (
              <li key={path}>
                <a class="frow" href={to(path)}>
                  <Icon name="file-text" class="entry-i" />
                  <span class="fn">
                    <b>
                      <bdi dir="ltr">{fileName(path)}</bdi>
                    </b>
                    {folderOf(path) !== '' && (
                      <small>
                        <bdi dir="ltr">{folderOf(path)}</bdi>
                      </small>
                    )}
                  </span>
                </a>
              </li>
            ))
          : found.found.files.map(file => <FoundFile key={file.path} file={file} to={to(file.path)} />)}
      </ul>
      {found.found.isCut && count > 0 && <p class="hint">{words.foundCut}</p>}
    </>
  )
}

function FoundFile({ file, to }: { file: TextFound['files'][number]; to: string }) {
  return (
    <li class="hit">
      <a class="frow" href={to}>
        <Icon name="file-text" class="entry-i" />
        <span class="fn">
          <b>
            <bdi dir="ltr">{file.path}</bdi>
          </b>
        </span>
        <span class="size">{words.hits(file.lines.length)}</span>
      </a>
      {file.lines.map(line => (
        <div key={line.number} class="hit-l">
          <span class="ln">{line.number}</span>
          <code>{marked(line)}</code>
        </div>
      ))}
    </li>
  )
}

function marked({ text, ranges = [] }: TextFound['files'][number]['lines'][number]) {
  const parts = []
  let at = 0
  for (const { from, to } of ranges) {
    parts.push(
      text.slice(at, from),
      <mark key={from} class="hit-m">
        {text.slice(from, to)}
      </mark>
    )
    at = to
  }
  return [...parts, text.slice(at)]
}
