import PostgreSQL
import Testing

@Suite struct PostgresAddressTests {
    @Test(arguments: [
        ("postgresql://anna:secret@db.example.org:5433/health?sslmode=require", "db.example.org:5433/health", false),
        ("postgres://anna@localhost/health", "localhost:5432/health", true),
        ("host=/run/postgresql dbname=health password=secret", "/run/postgresql/health", true),
        ("postgresql://[::1]:5432/health", "::1:5432/health", true),
        ("postgresql://127.0.0.2/health", "127.0.0.2:5432/health", true),
        ("postgresql://127.example.org/health", "127.example.org:5432/health", false),
        ("postgresql://me:a%2Fb%40c@db.example.org/health", "db.example.org:5432/health", false),
        ("host=/run/postgresql dbname=health user=me password=a@b/c", "/run/postgresql/health", true),
    ])
    func readable(_ url: String, _ text: String, _ isLocal: Bool) throws {
        let address = try PostgresAddress(url: url)
        #expect(address.description == text && address.isLocal == isLocal)
    }

    /// If a '/' or '@' in the password isn't escaped, part of the password is taken for the host or the database, which
    /// are shown to everyone.
    @Test(arguments: [
        "", "health", "postgresql://anna:secret@h:5432/d?nonsense=1", "password=secret nonsense", "=secret",
        "postgresql://me:pass/secret@db.example.org:5432/health",
        "postgresql://me:secret@secret/x@db.example.org/health",
        "postgresql://me:secr/secret@db/health", "host=db port=secret", "postgresql://me:\nsecret@db/health",
    ])
    func unreadable(_ url: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresAddress(url: url) }
        #expect(error.map { !$0.description.contains("secret") } ?? false)
    }
}
