// Stands in for style sheets and pictures, which no unit test looks at; an icon without any picture is an error.
module.exports = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
