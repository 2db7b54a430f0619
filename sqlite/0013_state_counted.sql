-- The size of everything an account stores besides messages, attachments and artifacts, updated by triggers. Rows that may be
-- small and numerous count 100 bytes more.
ALTER TABLE account ADD COLUMN state_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE account SET state_bytes =
  (SELECT ifnull(sum(ifnull(octet_length(data_key), 0) + ifnull(octet_length(metadata), 0) + ifnull(octet_length(agent_state), 0)), 0) FROM session_cells WHERE session_cells.account = account.key)
  + (SELECT ifnull(sum(ifnull(octet_length(data_key), 0) + ifnull(octet_length(metadata), 0) + ifnull(octet_length(daemon_state), 0)), 0) FROM machine WHERE machine.account = account.key)
  + (SELECT ifnull(sum(ifnull(octet_length(settings), 0)), 0) FROM account_cells WHERE account_cells.account = account.key)
  + (SELECT ifnull(sum(ifnull(octet_length(value), 0)), 0) FROM kv WHERE kv.account = account.key)
  + (SELECT ifnull(sum(ifnull(octet_length(data), 0) + 100), 0) FROM access_key WHERE access_key.account = account.key)
  + (SELECT ifnull(sum(ifnull(octet_length(name), 0) + ifnull(octet_length(tokens), 0) + ifnull(octet_length(cost), 0) + 100), 0) FROM usage_report WHERE usage_report.account = account.key)
  + (SELECT ifnull(sum(ifnull(octet_length(id), 0) + ifnull(octet_length(title), 0) + ifnull(octet_length(body), 0) + ifnull(octet_length(preview), 0) + 100), 0) FROM notice WHERE notice.account = account.key)
  + (SELECT ifnull(sum(octet_length(label) + 300), 0) FROM token WHERE token.account = account.key AND kind = 'named');

CREATE TRIGGER session_cells_counted AFTER INSERT ON session_cells
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.data_key), 0) + ifnull(octet_length(new.metadata), 0) + ifnull(octet_length(new.agent_state), 0) WHERE key = new.account; END;
CREATE TRIGGER session_cells_recounted AFTER UPDATE OF metadata, agent_state ON session_cells
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.metadata), 0) + ifnull(octet_length(new.agent_state), 0) - ifnull(octet_length(old.metadata), 0) - ifnull(octet_length(old.agent_state), 0) WHERE key = new.account; END;
CREATE TRIGGER session_cells_uncounted AFTER DELETE ON session_cells
BEGIN UPDATE account SET state_bytes = state_bytes - (ifnull(octet_length(old.data_key), 0) + ifnull(octet_length(old.metadata), 0) + ifnull(octet_length(old.agent_state), 0)) WHERE key = old.account; END;

CREATE TRIGGER machine_counted AFTER INSERT ON machine
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.data_key), 0) + ifnull(octet_length(new.metadata), 0) + ifnull(octet_length(new.daemon_state), 0) WHERE key = new.account; END;
CREATE TRIGGER machine_recounted AFTER UPDATE OF metadata, daemon_state ON machine
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.metadata), 0) + ifnull(octet_length(new.daemon_state), 0) - ifnull(octet_length(old.metadata), 0) - ifnull(octet_length(old.daemon_state), 0) WHERE key = new.account; END;
CREATE TRIGGER machine_uncounted AFTER DELETE ON machine
BEGIN UPDATE account SET state_bytes = state_bytes - (ifnull(octet_length(old.data_key), 0) + ifnull(octet_length(old.metadata), 0) + ifnull(octet_length(old.daemon_state), 0)) WHERE key = old.account; END;

CREATE TRIGGER account_cells_counted AFTER INSERT ON account_cells
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.settings), 0) WHERE key = new.account; END;
CREATE TRIGGER account_cells_recounted AFTER UPDATE OF settings ON account_cells
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.settings), 0) - ifnull(octet_length(old.settings), 0) WHERE key = new.account; END;
CREATE TRIGGER account_cells_uncounted AFTER DELETE ON account_cells
BEGIN UPDATE account SET state_bytes = state_bytes - (ifnull(octet_length(old.settings), 0)) WHERE key = old.account; END;

CREATE TRIGGER kv_counted AFTER INSERT ON kv
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.value), 0) WHERE key = new.account; END;
CREATE TRIGGER kv_recounted AFTER UPDATE OF value ON kv
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.value), 0) - ifnull(octet_length(old.value), 0) WHERE key = new.account; END;
CREATE TRIGGER kv_uncounted AFTER DELETE ON kv
BEGIN UPDATE account SET state_bytes = state_bytes - (ifnull(octet_length(old.value), 0)) WHERE key = old.account; END;

CREATE TRIGGER access_key_counted AFTER INSERT ON access_key
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.data), 0) + 100 WHERE key = new.account; END;
CREATE TRIGGER access_key_recounted AFTER UPDATE OF data ON access_key
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.data), 0) - ifnull(octet_length(old.data), 0) WHERE key = new.account; END;
CREATE TRIGGER access_key_uncounted AFTER DELETE ON access_key
BEGIN UPDATE account SET state_bytes = state_bytes - (ifnull(octet_length(old.data), 0) + 100) WHERE key = old.account; END;

CREATE TRIGGER usage_report_counted AFTER INSERT ON usage_report
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.name), 0) + ifnull(octet_length(new.tokens), 0) + ifnull(octet_length(new.cost), 0) + 100 WHERE key = new.account; END;
CREATE TRIGGER usage_report_recounted AFTER UPDATE OF tokens, cost ON usage_report
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.tokens), 0) + ifnull(octet_length(new.cost), 0) - ifnull(octet_length(old.tokens), 0) - ifnull(octet_length(old.cost), 0) WHERE key = new.account; END;
CREATE TRIGGER usage_report_uncounted AFTER DELETE ON usage_report
BEGIN UPDATE account SET state_bytes = state_bytes - (ifnull(octet_length(old.name), 0) + ifnull(octet_length(old.tokens), 0) + ifnull(octet_length(old.cost), 0) + 100) WHERE key = old.account; END;

CREATE TRIGGER notice_counted AFTER INSERT ON notice
BEGIN UPDATE account SET state_bytes = state_bytes + ifnull(octet_length(new.id), 0) + ifnull(octet_length(new.title), 0) + ifnull(octet_length(new.body), 0) + ifnull(octet_length(new.preview), 0) + 100 WHERE key = new.account; END;
CREATE TRIGGER notice_uncounted AFTER DELETE ON notice
BEGIN UPDATE account SET state_bytes = state_bytes - (ifnull(octet_length(old.id), 0) + ifnull(octet_length(old.title), 0) + ifnull(octet_length(old.body), 0) + ifnull(octet_length(old.preview), 0) + 100) WHERE key = old.account; END;

CREATE TRIGGER token_counted AFTER INSERT ON token WHEN new.kind = 'named'
BEGIN UPDATE account SET state_bytes = state_bytes + octet_length(new.label) + 300 WHERE key = new.account; END;
CREATE TRIGGER token_uncounted AFTER DELETE ON token WHEN old.kind = 'named'
BEGIN UPDATE account SET state_bytes = state_bytes - octet_length(old.label) - 300 WHERE key = old.account; END;
