import Control
import Inspection
import Testing

/// What `healthbus service` takes over from the shell.
@Suite struct SystemdUnitTests {
    private func unit(_ environment: [String: String]) throws -> SystemdUnit {
        try SystemdUnit(
            Stack(state: "/srv/$state", configurationFile: nil), name: "healthbus", isOfMachine: false,
            environment: environment)
    }

    /// In a command, systemd replaces variables; elsewhere, it doesn't.
    @Test func aDollarSignIsDoubledOnlyInTheCommand() throws {
        let text = try unit(["HEALTHBUS_INBOX": "/srv/$in 100%"]).text
        #expect(text.contains(#"--state "/srv/$$state""#))
        #expect(text.contains("Environment=\"HEALTHBUS_INBOX=/srv/$in 100%%\"\n"), "\(text)")
    }

    @Test func whatMayBeSecretStaysOutAndIsNamed() throws {
        let unit = try unit([
            "HEALTHBUS_KEYS": "/k", "HEALTHBUS_FHIR_SERVER": "https://h.example.org/fhir",
            "HEALTHBUS_FILES_FOLDER": "/f", "HEALTHBUS_POSTGRES_URL": "postgresql://u:p@h/d",
        ])
        for line in [
            "HEALTHBUS_KEYS=/k", "HEALTHBUS_FHIR_SERVER=https://h.example.org/fhir", "HEALTHBUS_FILES_FOLDER=/f",
        ] { #expect(unit.text.contains("Environment=\(line)\n"), "\(unit.text)") }
        #expect(!unit.text.contains("POSTGRES"))
        #expect(unit.leftOut == ["HEALTHBUS_POSTGRES_URL"])
    }
}
