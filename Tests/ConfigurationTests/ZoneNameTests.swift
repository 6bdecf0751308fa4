import Configuration
import HealthModel
import Logging
import Testing

@Suite struct ZoneNameTests {
    @Test(arguments: [
        ("Europ/Berlin", "did you mean Europe/Berlin?"), ("berlin", "did you mean Europe/Berlin?"),
        ("Asia/Kolkatta", "did you mean Asia/Kolkata?"), ("Europe/Kjiv", "did you mean Europe/Kyiv?"),
        ("qqqqqqqqqqqq", "use an IANA name such as Europe/Berlin"),
    ])
    func aMistypedZoneIsRefusedWithTheNearest(_ name: String, _ hint: String) {
        let failure = #expect(throws: Failure.self) { try ZoneName.require(name) }
        #expect(failure?.message == "unknown time zone \"\(name)\"" && failure?.hint == hint)
        #expect(failure?.code == .usage)
    }

    @Test(arguments: ["Europe/Berlin", "UTC", "America/Argentina/Ushuaia"])
    func aZoneOfTheDatabaseIsTaken(_ name: String) throws { try ZoneName.require(name) }
}
