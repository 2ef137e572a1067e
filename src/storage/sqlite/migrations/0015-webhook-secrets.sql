-- What messages to an account's webhook are signed with. Null: the account is older than this column,
-- and its secret follows from its name as before, so that its receivers go on verifying.
alter table users add column webhook_secret text;
