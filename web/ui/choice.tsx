import type { ComponentChildren } from 'preact'

/** A radio button: one of several options. */
export function Choice(props: {
  name: string
  title: string
  text?: string | undefined
  isChosen: boolean
  lang?: string
  onChoose(): void
}) {
  return (
    <label class="irow">
      <input type="radio" name={props.name} checked={props.isChosen} onChange={props.onChoose} />
      <span>
        <b lang={props.lang}>{props.title}</b>
        {props.text && <small>{props.text}</small>}
      </span>
    </label>
  )
}

/** A switch that is on or off. */
export function Switch(props: { title: string; text: string; isOn: boolean; onFlip(): void }) {
  return (
    <label class="irow">
      <span>
        <b>{props.title}</b>
        <small>{props.text}</small>
      </span>
      <input class="switch" type="checkbox" role="switch" checked={props.isOn} aria-checked={props.isOn} onChange={props.onFlip} />
    </label>
  )
}

/** A group of radio buttons with a heading. */
export function ChoiceGroup({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class="grp">
      <h2 id={id}>{title}</h2>
      <div class="card tight" role="radiogroup" aria-labelledby={id}>
        {children}
      </div>
    </section>
  )
}

/** A group of switches with a heading. */
export function Switches({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="grp">
      <h2>{title}</h2>
      <div class="card tight">{children}</div>
    </section>
  )
}
