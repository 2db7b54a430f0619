import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icons/icon.tsx'
import { work as words } from '../../../words/work.ts'
import type { WorkComment } from './comments.ts'

/** The field for a comment, below its subject. */
export function CommentBox({ where, onAdd, onCancel }: { where: string; onAdd(text: string): void; onCancel(): void }) {
  const [text, setText] = useState('')
  const area = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  useEffect(() => area.current?.focus(), [])
  const add = () => text.trim() !== '' && onAdd(text.trim())
  return (
    <form
      class="wcomment writing"
      onSubmit={event => {
        event.preventDefault()
        add()
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') onCancel()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) add()
      }}
    >
      <label for={id}>{words.commentOn(where)}</label>
      <textarea
        id={id}
        ref={area}
        rows={3}
        dir="auto"
        placeholder={words.writeComment}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
      <div class="acts two">
        <Button look="quiet" onClick={onCancel}>
          {words.cancel}
        </Button>
        <Button look="primary" type="submit" isOff={text.trim() === ''}>
          {words.addComment}
        </Button>
      </div>
    </form>
  )
}

/** Comments that were not sent yet. */
export function CommentNote({ comment, onRemove }: { comment: WorkComment; onRemove(): void }) {
  return (
    <div class="wcomment">
      <Icon name="message-square-text" />
      <p dir="auto">
        <span class="vh">{words.yourComment}: </span>
        {comment.text}
      </p>
      <button class="ib" type="button" aria-label={words.removeComment} onClick={onRemove}>
        <Icon name="x" />
      </button>
    </div>
  )
}
