import { Icon } from '../../ui/icons/icon.tsx'
import { compose as words } from '../../words/compose.ts'
import { type Suggestions, suggestionId, suggestionsId } from './suggestions.ts'

interface Props {
  suggestions: Suggestions
  /** The agent's descriptions of its commands. */
  abouts: Readonly<Record<string, string>> | undefined
  onTake(index: number): void
}

/** Suggestions above the message; the text area keeps the focus. */
export function SuggestionList({ suggestions, abouts, onTake }: Props) {
  const { kind, found, at } = suggestions
  // Some agents include the slash in the name. Any name may occur, even one that every object has.
  const said = new Map(Object.entries(abouts ?? {}))
  const aboutOf = (name: string) => said.get(name) ?? said.get(`/${name}`)
  return (
    <div class="suggest" role="listbox" id={suggestionsId} aria-label={kind === 'command' ? words.commands : words.files}>
      {found.map((name, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text area, which keeps the focus
        <div
          key={name}
          id={suggestionId(index)}
          class="sug"
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          onPointerDown={event => event.preventDefault()}
          onClick={() => onTake(index)}
        >
          <Icon name={kind === 'command' ? 'square-terminal' : 'file-text'} />
          <span>
            <bdi>{kind === 'command' ? `/${name}` : name}</bdi>
            {kind === 'command' && aboutOf(name) && <small dir="auto">{aboutOf(name)}</small>}
          </span>
        </div>
      ))}
    </div>
  )
}
