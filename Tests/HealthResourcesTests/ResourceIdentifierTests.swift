import HealthModel
import HealthResources
import Testing

/// How a server identifies a person, and how it finds a resource.
@Suite struct ResourceIdentifierTests {
    @Test func aSearchIsEscapedForFHIRAndForURLs() {
        let day = ResourceIdentifier(system: "urn:x-healthbus:day", value: "me/2025-03-30")
        #expect(day.query == "identifier=urn:x-healthbus:day%7Cme/2025-03-30")
        #expect(day.token == "urn:x-healthbus:day|me/2025-03-30")
        let odd = ResourceIdentifier(system: "https://h.example/a?b", value: "Jörg, $1|\\ &#")
        #expect(
            odd.query
                == "identifier=https://h.example/a%3Fb%7CJ%C3%B6rg%5C%2C%20%5C%241%5C%7C%5C%5C%20%26%23")
    }

    @Test(arguments: [
        ("me", "urn:x-healthbus:user", "me"), ("anna", "https://clinic.example/mrn", "12|3"),
        ("bo", "urn:x-healthbus:user", "77"), ("cy", "urn:x-healthbus:user", "cy"),
        ("di", "urn:x-healthbus:user", "|9"),
    ])
    func peopleAreWhoTheConfigurationSays(_ user: String, _ system: String, _ value: String) {
        let names = PatientNames(["anna": "https://clinic.example/mrn|12|3", "bo": "77", "cy": "", "di": "|9"])
        #expect(names.identifier(of: user) == ResourceIdentifier(system: system, value: value))
    }

    /// People on the same server share no identifier, even if each is called `me` at home, or if two systems give them
    /// the same number.
    @Test func theSameDayOfTwoPeopleIsTwo() {
        let texts = ["a|1", "a|2", "b|1", "1", "b|a|1", "urn:x-healthbus:user|1:" + String(key("a|1").suffix(8))]
        #expect(Set(texts.map(key)).count == texts.count)
        #expect(key("1") == "1" && key("urn:x-healthbus:user|1") == "1")
        // This must never change, because resources are found by it.
        #expect(key("https://clinic.example/mrn|12") == "12:" + String(key("https://clinic.example/mrn|7").suffix(8)))
    }

    private func key(_ text: String) -> String {
        let day = Observations(of: PatientNames(["me": .string(text)]).identifier(of: "me"))
            .identifier(.day, "2025-03-30")
        return String(day.value.dropLast("/2025-03-30".count))
    }

    @Test func twoUsersHaveNoOneIdentifier() {
        #expect(PatientNames(["a": "s|1", "b": "s|1"]).problem != nil)
        #expect(PatientNames(["a": "1", "b": "urn:x-healthbus:user|1"]).problem != nil)
        #expect(PatientNames(["a": "s|1", "b": "t|1", "c": "1"]).problem == nil && PatientNames(.null).problem == nil)
        let names = PatientNames(["a": "bo", "cy": "s|cy"])
        #expect(names.isTaken(by: "bo") && !names.isTaken(by: "a") && !names.isTaken(by: "cy"))
        #expect(!names.isTaken(by: "di"))
    }

    @Test func anIDIsAUUIDOfItsIdentifier() throws {
        let ids = ["me/1", "me/2", "x/1"].map {
            Observations.id(ResourceIdentifier(system: "urn:x-healthbus:day", value: $0))
        }
        #expect(Set(ids).count == 3)
        for id in ids {
            #expect(id.wholeMatch(of: #/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#) != nil)
        }
        #expect(NamedID.uuid(["a", "bc"]) != NamedID.uuid(["ab", "c"]))
    }
}
