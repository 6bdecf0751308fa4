import HealthModel
import HealthPush
import Testing

struct AutoExportDateTests {
    @Test(arguments: [
        ("2024-02-06 14:30:00 -0800", "2024-02-06T22:30:00Z"), ("2024-02-06 2:30:00 PM -0800", "2024-02-06T22:30:00Z"),
        ("2024-02-06 7:57:00 am -0600", "2024-02-06T13:57:00Z"),
        ("2024-02-06 7:57:00\u{202F}am -0600", "2024-02-06T13:57:00Z"),
        ("2024-02-06 07:57:00\u{202F}PM -0600", "2024-02-07T01:57:00Z"),
        ("2024-02-06 7:57:00\u{A0}a.\u{A0}m. +0530", "2024-02-06T02:27:00Z"),
        ("2024-02-06 12:00:00 AM +0000", "2024-02-06T00:00:00Z"),
        ("2024-02-06 12:00:00 pm +0000", "2024-02-06T12:00:00Z"),
        ("2024-02-06 2:30 PM -0800", "2024-02-06T22:30:00Z"), ("2024-02-06T14:30:00Z", "2024-02-06T14:30:00Z"),
        ("2024-02-06T14:30:00.125+01:00", "2024-02-06T13:30:00.125Z"),
        ("2024-02-06 0:30:00 AM +0000", "2024-02-06T00:30:00Z"),
        ("2024-02-29 23:59:59 +0000", "2024-02-29T23:59:59Z"), ("1969-12-31 23:00:00 -0100", "1970-01-01T00:00:00Z"),
    ])
    func everyFormOfADateIsRead(text: String, instant: String) throws {
        let changes = try pushed(
            metric: "body_temperature", "degC", #"{"qty":1,"date":"\#(text)"}"#, aggregation: "none")
        #expect(changes.rows.map(\.start) == [instant] && changes.quarantined.isEmpty)
    }

    @Test func anEscapedSpaceIsASpace() throws {
        let changes = try pushed(
            metric: "body_temperature", "degC", #"{"qty":1,"date":"2024-02-06 7:57:00\u202fam -0600"}"#,
            aggregation: "none")
        #expect(changes.rows.map(\.start) == ["2024-02-06T13:57:00Z"])
    }

    @Test(arguments: [
        "2024-02-06", "2024-02-06 14:30:00", "2024-02-30 10:00:00 +0000", "2024-02-06 24:00:00 +0000", "",
        "2024-02-06 13:30:00 PM +0000", "2024-02-06 13:30:00 下午 +0800", "06.02.2024 14:30:00 +0100",
        "2024-02-06 14:30:00 +0100 ", "2024-02-06 14:3:00 +0100", "2024-02-06 14:30:00 +0190",
        "2024-13-06 14:30:00 +0100",
        "2024-02-06 上午7:57:00", "1707229800", "2024-02-06 7:57:00 am",
    ])
    func whatIsNoDateIsKeptApart(text: String) throws {
        let changes = try pushed(
            metric: "body_temperature", "degC", #"{"qty":1,"date":"\#(text)"},{"qty":2,"date":"2024-02-06T14:30:00Z"}"#,
            aggregation: "none")
        #expect(changes.rows.map(\.value) == [2] && changes.items == 2)
        #expect(changes.quarantined.map(\.line) == [1])
        #expect(changes.reasons == ["the date isn't a date with an offset"])
    }
}
