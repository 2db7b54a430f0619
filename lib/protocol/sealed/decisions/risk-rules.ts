import type { Level, RiskName } from './risk-names.ts'

const flags = String.raw`(?:\s+-\S+)*`
const rest = String.raw`[^\n;&|]*?`

/** Signs of risk in a command; the marks are their matches. */
export const rules: readonly Rule[] = [
  rule('deletes', 'risky', { program: String.raw`(?:\S*/)?rm\s+(?:${rest}\s)?-{1,2}(?:[a-zA-Z]*[rRf]\w*|recursive|force)` }),
  rule('deletes', 'risky', {
    program: String.raw`(?:\S*/)?(?:shred|srm|unlink|rmdir|rimraf|trash)\b|truncate\b|Remove-Item\b|del\s+/`,
    anywhere: String.raw`\s-delete\b`
  }),
  rule('rewrites-history', 'risky', {
    anywhere: String.raw`(?<=\bpush\b${rest}\s)(?:--force(?:-with-lease|-if-includes)?(?:=\S+)?|-f|--mirror|--delete|\+\S+)(?=\s|$)`
  }),
  rule('rewrites-history', 'risky', {
    anywhere: String.raw`\bgit\b${rest}\b(?:filter-branch|filter-repo|rebase|commit\s+${rest}--amend|update-ref|reflog\s+expire)`
  }),
  rule('discards', 'risky', {
    anywhere: String.raw`\bgit\b${rest}\b(?:reset\s+${rest}--hard|clean\s+${rest}-\w*[fdx]\w*|checkout\s+(?:--?\s|${rest}--\s|\.)|restore\b|stash\s+(?:drop|clear)|branch\s+${rest}-D|worktree\s+remove)`
  }),
  rule('admin-rights', 'risky', { program: String.raw`(?:sudo|doas|su|pkexec|runas)\b` }),
  rule('runs-download', 'risky', {
    anywhere: String.raw`\b(?:curl|wget|fetch|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b[^\n;]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:env\s+)?(?:ba|z|da|k|fi)?(?:sh|iex|python\d?|node|perl|ruby|php)\b`
  }),
  rule('runs-download', 'risky', {
    program: String.raw`(?:npx|bunx|uvx|(?:npm|pnpm|yarn|bun)\s+(?:exec|x)|pipx\s+run|pnpm\s+dlx|yarn\s+dlx)\b`,
    anywhere: String.raw`(?:(?:ba|z|da)?sh|eval|source|\.|python\d?|node)\s+(?:-c\s+)?["']?(?:<\(|\$\(|\`)\s*(?:curl|wget)\b`
  }),
  rule('unparsable', 'risky', {
    program: String.raw`eval\b|(?:python[\d.]*|node|deno|bun|perl|ruby|php)\s+(?:-\S+\s+)*(?:-[a-zA-Z]*[ce]|-p|-r|--eval|--print)\b|(?:ba|z|da|fi|k)?sh\s+(?:-\S+\s+)*-\w*c\b`,
    anywhere: String.raw`\bbase64\s+(?:-d|-D|--decode)\b|\bxxd\s+-r\b|\\x[0-9a-f]{2}`,
    flags: 'i'
  }),
  // Options with which a harmless program runs another one.
  rule('unparsable', 'risky', {
    program: String.raw`(?:awk|gawk|mawk)\b${rest}\b(?:system|getline)\b|(?:vi|vim|ed|ex|emacs)\b`,
    anywhere: String.raw`\bgit\s+(?:${rest}\s)?(?:-c\s*\S+|--config-env\S*|--exec-path=\S+|--upload-pack\S*|--receive-pack\S*|--ext-diff|--open-files-in-pager\S*|-O\S+)|\s-(?:exec|execdir|ok|okdir|fprint\w*|fls)\b|--(?:to-command|checkpoint-action|use-compress-program|rsh|script-shell|node-options)\b|\b(?:ProxyCommand|LocalCommand)\b|(?<=^|[\s;&|(])(?:PATH|LD_\w+|DYLD_\w+|NODE_OPTIONS|BASH_ENV|ENV|IFS|SHELL|EDITOR|PAGER|PYTHON\w+|PERL5\w+|RUBYOPT|GIT_\w+)=`
  }),
  rule('overwrites-disk', 'risky', {
    program: String.raw`(?:mkfs\S*|fdisk|parted|wipefs|diskutil)\b|dd\s+${rest}\bof=\S+`,
    anywhere: String.raw`>\s*/dev/(?:sd|nvme|disk|hd)\w*`
  }),
  rule('permissions', 'risky', {
    program: String.raw`(?:chmod|chown|chgrp|icacls)\s+${rest}(?:-\w*R\w*|--recursive|777|a\+rwx|\+s)\b`,
    anywhere: String.raw`:\(\)\s*\{`
  }),
  rule('secrets', 'risky', {
    anywhere: String.raw`(?:^|(?<=[\s"'=:/<>]))(?:\.env(?:\.[\w-]+)?(?=[\s"']|$)|~?/?\.ssh(?:/\S*)?|\.aws/\S*|\.netrc|\.npmrc|\.gnupg\S*|id_(?:rsa|ed25519)\S*|/etc/(?:shadow|sudoers)\S*)|\b(?:printenv|security\s+find-\S+|pass\s+show|op\s+read|gh\s+auth\s+token|kubectl\s+get\s+secrets?)\b`
  }),
  rule('production', 'risky', {
    program: String.raw`\S*\bdeploy\b\S*`,
    anywhere: String.raw`(?<![\w./=-]|--mode\s|--env\s)(?:production|prod)(?![\w./-])|\b(?:run|task|make|just)\s+\S*\bdeploy\b\S*|\b(?:npm|pnpm|yarn|cargo|gem|twine|vsce|poetry)\s+(?:publish|upload)\b|\bgh\s+release\b|\bdocker\s+push\b`,
    flags: 'i'
  }),
  rule('database', 'risky', {
    anywhere: String.raw`\b(?:drop\s+(?:table|database|schema|index)|truncate\s+table|delete\s+from|dropdb|flushall|flushdb|migrate\s+reset|db:drop|db:reset)\b`,
    flags: 'i'
  }),
  rule('infrastructure', 'risky', {
    program: String.raw`(?:shutdown|reboot|halt|poweroff|systemctl|launchctl|crontab|iptables|ufw|userdel|passwd)\b|(?:killall|pkill)${flags}\s`,
    anywhere: String.raw`\bterraform\s+(?:apply|destroy)\b|\bkubectl\s+(?:delete|apply|drain|scale|rollout)\b|\bhelm\s+(?:uninstall|upgrade|install)\b|\bdocker\s+(?:system|volume|image|container)\s+prune\b|\bdocker(?:-|\s+)compose\s+down\s+${rest}-v\b`
  }),
  rule('overwrites', 'careful', {
    program: String.raw`(?:mv|cp|install|ln|tee)\s|sed\s+(?:${rest}\s)?-\w*i\b`,
    anywhere: String.raw`(?<![<>&\d])>{1,2}\|?(?!&)\s*(?!/dev/(?:null|stdout|stderr))[\w./~"'$-]+`
  }),
  rule('deletes', 'careful', { program: String.raw`(?:\S*/)?rm\s` }),
  rule('installs', 'careful', {
    anywhere: String.raw`\b(?:npm|pnpm|bun)\s+(?:i|install|ci|add|update|uninstall)\b|\byarn\s+(?:add|install)\b|\b(?:pip\d?|uv|poetry|gem|cargo|brew|apt|apt-get|dnf|yum|pacman|apk|go|choco|winget)\s+(?:install|add|get|-S\w*)\b`
  }),
  rule('network', 'careful', {
    program: String.raw`(?:curl|wget|ssh|scp|rsync|sftp|ftp|nc|ncat|telnet|dig|nslookup|ping)\b`,
    anywhere: String.raw`\bgit\s+(?:push|pull|fetch|clone)\b|\bhttps?://\S+`
  }),
  rule('outside', 'careful', {
    anywhere: String.raw`(?:^|(?<=[\s"'=<>]))(?:\.\./\S*|~/\S*|/(?:etc|usr|var|opt|root|home|Users|Library|System|bin|boot|srv)(?:/\S*)?)`
  })
]

interface Rule {
  name: RiskName
  level: Level
  /** Tried where a program may be named. */
  program?: RegExp | undefined
  anywhere?: RegExp | undefined
}

interface Sources {
  program?: string
  anywhere?: string
  flags?: string
}

function rule(name: RiskName, level: Level, { program, anywhere, flags = '' }: Sources): Rule {
  return {
    name,
    level,
    program: program === undefined ? undefined : new RegExp(program, `${flags}y`),
    anywhere: anywhere === undefined ? undefined : new RegExp(anywhere, `${flags}g`)
  }
}
