import type { SessionFacts } from '../../model/session/facts.ts'
import { ChangeCount } from '../../ui/change-count.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { escaped } from '../../ui/escaped.tsx'
import { Icon, type IconName } from '../../ui/icons/icon.tsx'
import { visible } from '../../ui/visible-text.ts'
import { lists } from '../../words/lists.ts'
import { type RiskName, session as words } from '../../words/session.ts'
import { Diff } from '../text/diff.tsx'
import { Markdown } from '../text/markdown.tsx'
import { fieldText } from '../transcript/step-body.tsx'
import { changesOf, insidePath } from '../transcript/step-words.ts'
import { Command } from './command.tsx'
import { Where } from './location.tsx'
import type { DecisionSubject } from './subject.ts'

/** Everything about the decision, where it happens and its risks. */
export function DecisionBody({ subject, facts, titleId }: { subject: DecisionSubject; facts: SessionFacts; titleId: string }) {
  const { command, url, diffs, paths, text, fields, risk, reason } = subject
  const toCopy = command ?? url ?? paths[0]
  return (
    <div class="dock-b" id={`${titleId}-b`}>
      {command !== undefined && <Command text={command} marks={risk.marks} isLarge />}
      {url !== undefined && <Command text={url} marks={[]} isLarge />}
      {diffs.map((diff, index) => (
        <figure key={index} class="dock-d">
          <figcaption>
            <code>{escaped(insidePath(diff.path, facts.path))}</code>
            <Count diff={diff} />
          </figcaption>
          <Diff path={diff.path} oldText={diff.oldText} newText={diff.newText} isDecision />
        </figure>
      ))}
      {paths.map(path => (
        <Command key={path} text={insidePath(path, facts.path)} marks={[]} />
      ))}
      {text !== '' &&
        (subject.kind === 'plan' ? (
          <div class="plan-t">
            <Markdown text={text} />
          </div>
        ) : (
          <Command text={text} marks={[]} />
        ))}
      <DecidedFields fields={fields} />
      <Where facts={facts}>{toCopy !== undefined && <CopyButton text={toCopy} what={words.command} />}</Where>
      {subject.directory !== undefined && (
        <p class="where">
          <Icon name="folder-open" />
          <code>{escaped(subject.directory)}</code>
        </p>
      )}
      <Risks names={risk.reasons} isRisky={risk.level === 'risky'} />
      {reason !== undefined && (
        <p class="why" dir="auto">
          <span>{words.reasonOf(facts.agentShort)}</span>
          {visible(reason)}
        </p>
      )}
    </div>
  )
}

function Count({ diff }: { diff: DecisionSubject['diffs'][number] }) {
  const changes = changesOf([diff])
  return changes === undefined ? null : <ChangeCount added={changes.added} removed={changes.removed} />
}

function DecidedFields({ fields }: { fields: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(fields)
  if (entries.length === 0) return null
  return (
    <dl class="fields">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{escaped(name)}</dt>
          <dd>{escaped(fieldText(value))}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The reasons for care, a sentence each: red if they make the decision risky, plain hints otherwise. */
function Risks({ names, isRisky }: { names: readonly RiskName[]; isRisky: boolean }) {
  if (names.length === 0) return null
  return (
    <ul class={isRisky ? 'risks' : 'cues'} aria-label={isRisky ? words.why : undefined}>
      {names.map(name => {
        const [what, more] = words.risk[name]
        return (
          <li key={name}>
            <Icon name={icons[name]} />
            <span>
              <b>{what}</b>
              {lists.sentence(more && ` ${more}`)}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

const icons: Readonly<Record<RiskName, IconName>> = {
  deletes: 'trash',
  'rewrites-history': 'git-branch',
  discards: 'undo-2',
  'admin-rights': 'key-round',
  'runs-download': 'download',
  'runs-edited': 'pencil',
  overwrites: 'file-diff',
  'overwrites-disk': 'server',
  permissions: 'lock',
  secrets: 'key-round',
  production: 'upload',
  database: 'server',
  infrastructure: 'server',
  hidden: 'eye-off',
  unparsable: 'octagon-alert',
  shortened: 'eye-off',
  network: 'globe',
  installs: 'download',
  outside: 'folder-open',
  'many-files': 'file-diff'
}
