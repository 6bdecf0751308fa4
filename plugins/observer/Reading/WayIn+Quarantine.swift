import HealthPush
import HealthStore

extension WayIn {
    /// The members of a quarantined item that may say what it is a sample of, as its way in declares.
    package static func names(of entry: QuarantineEntry) -> [String] {
        of(item: entry.raw, from: entry.source)?.names ?? HealthStoreReader.typeMembers
    }
}
