-- The roles of a store: one owns it, programs log in as the other, which can read and call functions.
\getenv owner_password OWNER_PASSWORD
\getenv application_password APPLICATION_PASSWORD
CREATE ROLE owner LOGIN CREATEROLE PASSWORD :'owner_password';
CREATE ROLE firsthand_application NOLOGIN;
CREATE ROLE application LOGIN PASSWORD :'application_password' IN ROLE firsthand_application;
CREATE DATABASE store OWNER owner;
