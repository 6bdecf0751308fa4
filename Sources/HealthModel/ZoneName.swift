import Foundation

/// Names of time zones.
package enum ZoneName {
    /// Whether the zone database knows a name.
    package static func isKnown(_ name: String) -> Bool { TimeZone(identifier: name) != nil }

    /// Whether a name can show where somebody was. A fixed offset (GMT, UTC, Etc/GMT-2) can't: devices send one when
    /// they don't know the place.
    ///
    /// Places are named "Area/Place" in the zone database.
    package static func isPlace(_ name: String) -> Bool {
        name.contains("/") && !name.hasPrefix("Etc/") && !name.hasPrefix("SystemV/") && isKnown(name)
    }

    /// The zone database's names, used to suggest a name in place of a mistyped one.
    package static var known: [String] {
        let known = TimeZone.knownTimeZoneIdentifiers
        return known + newer.filter { !known.contains($0) && isKnown($0) }
    }

    /// Today's names of places that Foundation lists under their former names only.
    private static let newer = [
        "Africa/Asmara", "America/Argentina/Buenos_Aires", "America/Argentina/Catamarca", "America/Argentina/Cordoba",
        "America/Argentina/Jujuy", "America/Argentina/Mendoza", "America/Atikokan", "America/Indiana/Indianapolis",
        "America/Kentucky/Louisville", "America/Nuuk", "Asia/Ho_Chi_Minh", "Asia/Kathmandu", "Asia/Kolkata",
        "Asia/Yangon", "Atlantic/Faroe", "Europe/Kyiv", "Pacific/Chuuk", "Pacific/Kanton", "Pacific/Pohnpei",
    ]
}
