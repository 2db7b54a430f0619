import { Sheet } from '../ui/sheet.tsx'
import { lists as words } from '../words/lists.ts'

type Key = keyof typeof words.key

const all: Record<keyof typeof words.keyGroups, readonly [keys: readonly string[], what: Key][]> = {
  everywhere: [
    [['Ctrl K', '⌘ K'], 'palette'],
    [['?'], 'list'],
    [['G H'], 'home'],
    [['G M'], 'machines'],
    [['G S'], 'settings'],
    [['N'], 'new'],
    [['/'], 'search'],
    [['['], 'foldList'],
    [[']'], 'foldSide'],
    [['Esc'], 'close']
  ],
  lists: [
    [['J', 'K'], 'move'],
    [['Enter'], 'open'],
    [['X'], 'select'],
    [['E'], 'archive']
  ],
  session: [
    [['C'], 'compose'],
    [['.'], 'stop'],
    [['D'], 'changes']
  ],
  decision: [
    [['A'], 'allow'],
    [['R'], 'deny'],
    [['Alt S'], 'scope'],
    [['1–9'], 'choose']
  ]
}

/** All keyboard shortcuts and what they do. */
export function KeySheet({ onClose }: { onClose(): void }) {
  return (
    <Sheet title={words.keys} onClose={onClose}>
      <p class="lead">{words.keysHint}</p>
      {(Object.keys(all) as (keyof typeof all)[]).map(group => (
        <section key={group} class="keys">
          <h3>{words.keyGroups[group]}</h3>
          <dl>
            {all[group].map(([keys, what]) => (
              <div key={what}>
                <dt>{words.key[what]}</dt>
                <dd>
                  {keys.map(key => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Sheet>
  )
}
