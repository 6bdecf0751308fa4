import HealthModel
import Logging

extension ZoneName {
    /// Requires that the database knows the zone.
    /// - Throws: `Failure` (usage) with the nearest name.
    package static func require(_ name: String) throws(Failure) {
        if known.contains(name) || isKnown(name) { return }
        // The usual mistakes are a misspelled city, or a city without its region: "berlin" means Europe/Berlin.
        let lower = name.lowercased()
        let nearest =
            known.first { $0.lowercased() == lower || $0.lowercased().hasSuffix("/" + lower) }
            ?? Nearest.to(name, among: known)
        throw Failure.usage(
            "unknown time zone \"\(name)\"",
            hint: nearest.map { "did you mean \($0)?" } ?? "use an IANA name such as Europe/Berlin")
    }
}
